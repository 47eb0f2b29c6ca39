/** The kinds of calls in the soak test, with their rates and the share of callers that abort. */
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
  readonly started: number;
  readonly answered: number;
  /** Calls with a status other than 200. Only with the faulty model. */
  readonly refused: number;
  /** Calls with a connection that closed during the response. Only with the faulty model. */
  readonly broken: number;
  /** Calls aborted by the caller. */
  readonly left: number;
  readonly failed: number;
}
