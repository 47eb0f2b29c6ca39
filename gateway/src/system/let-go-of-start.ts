/**
 * Lets go of the code that ran only to start, and of what else a start leaves behind: several megabytes. What is called
 * again is compiled again. It takes a whole collection, so it is for the time before anybody calls.
 */
export async function letGoOfStart(): Promise<void> {
  Bun.shrink();
  // It is done once nothing of ours runs.
  await new Promise<void>((resolve) => setImmediate(resolve));
}
