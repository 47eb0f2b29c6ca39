/** How long a run is to last, and how far it is. */
export interface Pace {
  /** As it was asked for; null: until each trouble has come once. */
  readonly minutes: number | null;
  /** From 0. */
  readonly round: number;
}

/** A line on how far a run is, with its age. */
export function progress(text: string): void {
  const seconds = Math.floor(performance.now() / 1_000);
  const clock = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
  console.log(`${clock.padStart(7)}  ${text}`);
}
