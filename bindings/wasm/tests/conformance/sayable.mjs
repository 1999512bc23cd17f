// Which scenarios can be played in JavaScript at all.

const HAS = new Set(["file", "negative_durations", "lone_surrogates"]);

/** Whether JavaScript can say what the scenario does: it has no text of bytes that are no UTF-8. */
export const isSayable = ({ needs = [] }) => needs.every((need) => HAS.has(need));

/** Whether it can only be played on a file. */
export const needsFile = ({ needs = [] }) => needs.includes("file");
