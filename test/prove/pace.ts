/** How long a run lasts, and the current round. */
export interface Pace {
  /** From the command line; null runs until each disruption has happened once. */
  readonly minutes: number | null;
  /** Starts at 0. */
  readonly round: number;
}

/** Prints a progress line with the elapsed time. */
export function progress(text: string): void {
  const seconds = Math.floor(performance.now() / 1_000);
  const clock = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
  console.log(`${clock.padStart(7)}  ${text}`);
}
