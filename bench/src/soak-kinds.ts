/** What is asked in the soak, how often, and how many of the callers leave before they have an answer. */
export const soakKinds = [
  { name: "small", perSecond: 150, leaveShare: 0.02 },
  { name: "100 KB", perSecond: 4, leaveShare: 0 },
  { name: "2 MB", perSecond: 0.2, leaveShare: 0 },
  { name: "stream", perSecond: 15, leaveShare: 0.2 },
  { name: "messages on chat", perSecond: 8, leaveShare: 0.2 },
  { name: "chat on messages", perSecond: 5, leaveShare: 0.2 },
  { name: "faulty", perSecond: 10, leaveShare: 0.1 },
] as const;
export type SoakKind = (typeof soakKinds)[number]["name"];

/** How the calls of one kind ended. */
export interface SoakTally {
  readonly asked: number;
  readonly answered: number;
  /** With a status that is not 200; only where the upstream is faulty. */
  readonly refused: number;
  /** The connection was closed within the answer; only where the upstream is faulty. */
  readonly broken: number;
  /** By its caller. */
  readonly left: number;
  readonly failed: number;
}
