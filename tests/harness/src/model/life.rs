//! The life of a handle: P6, P7, and a kill.

use super::world::Model;

impl Model {
    /// P6. Not an opening: the same process goes on, and leases run on as its monotonic clock says.
    pub fn suspend_and_resume(&mut self) {
        self.store_renewed();
        self.volatile.clear();
    }

    /// P7, and the file opened again.
    pub fn close_and_open(&mut self) {
        self.store_renewed();
        self.kill_and_open();
    }

    /// What was in memory is lost; the file is opened again.
    pub fn kill_and_open(&mut self) {
        self.volatile.clear();
        self.renewed.clear();
        self.dropped.clear();
        self.opened_mono = self.mono;
        self.opening += 1;
    }

    fn store_renewed(&mut self) {
        for record in self.disk.values_mut() {
            if let Some(lease) = self.renewed.remove(&record.fence) {
                record.lease = lease;
            }
        }
    }
}
