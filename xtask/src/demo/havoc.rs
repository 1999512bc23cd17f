//! The first half: clients send, the network is bad, and server and clients are killed again and again.

use super::clients::Clients;
use super::interrupt;
use super::plan::{Kill, Plan, Victim};
use super::proxy::Proxy;
use super::show::Show;
use super::stage::Stage;
use anyhow::Result;
use std::thread;
use std::time::{Duration, Instant};

/// Between two looks at what goes on.
const GLANCE: Duration = Duration::from_millis(5);

/// Where nothing is answered for so long, the next kill comes all the same.
const LULL: Duration = Duration::from_secs(1);

/// Everybody on the stage.
pub(crate) struct Havoc<'a> {
    pub(crate) stage: &'a mut Stage,
    pub(crate) clients: &'a mut Clients,
    pub(crate) proxy: &'a Proxy,
    pub(crate) show: &'a Show,
}

impl Havoc<'_> {
    /// Starts the clients, kills whom the plan names, lets them come back, and returns when every client has done what it can.
    pub(crate) fn wreak(&mut self, plan: &Plan) -> Result<()> {
        self.clients.start_all()?;
        let (mut kills, mut away) = (plan.kills.iter().peekable(), Vec::new());
        let mut last = (0, Instant::now());
        while kills.peek().is_some() || !away.is_empty() || !self.clients.have_drained() {
            self.look(plan, plan.kills.len() - kills.len())?;
            self.bring_back(&mut away)?;
            let answered = self.proxy.answered();
            if answered > last.0 {
                last = (answered, Instant::now());
            }
            let is_due = |kill: &&Kill| answered >= kill.due || last.1.elapsed() > LULL;
            if let Some(kill) = kills.next_if(|kill| is_due(kill) && self.is_there(kill.victim)) {
                self.kill(kill, &mut away)?;
                last.1 = Instant::now();
            }
        }
        Ok(())
    }

    /// Starts the clients once more, on a network without faults, until they have done what they can.
    pub(crate) fn finish(&mut self, plan: &Plan) -> Result<()> {
        self.clients.start_all()?;
        while !self.clients.have_drained() {
            self.look(plan, plan.kills.len())?;
        }
        Ok(())
    }

    fn look(&mut self, plan: &Plan, killed: usize) -> Result<()> {
        interrupt::check()?;
        self.stage.watch()?;
        self.clients.watch()?;
        self.show.requests(self.proxy.answered(), plan.requests.len(), killed, plan.kills.len());
        thread::sleep(GLANCE);
        Ok(())
    }

    fn is_there(&self, victim: Victim) -> bool {
        match victim {
            Victim::Server => true,
            Victim::Client(client) => self.clients.is_running(client),
        }
    }

    fn kill(&mut self, kill: &Kill, away: &mut Vec<(usize, Instant)>) -> Result<()> {
        match kill.victim {
            Victim::Server => {
                self.stage.kill_server()?;
                thread::sleep(kill.away);
                self.stage.start_server()
            }
            Victim::Client(client) => {
                away.push((client, Instant::now() + kill.away));
                self.clients.kill(client)
            }
        }
    }

    fn bring_back(&mut self, away: &mut Vec<(usize, Instant)>) -> Result<()> {
        let now = Instant::now();
        for (client, _) in away.extract_if(.., |(_, back)| *back <= now) {
            self.clients.start(client)?;
        }
        Ok(())
    }
}
