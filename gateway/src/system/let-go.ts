/**
 * Lets go of compiled code, and of what else is no longer used: what only a start needed, what a load left behind. What is
 * called again is compiled again. It takes a whole collection in one turn of the loop, so it is for when nobody calls.
 */
export async function letGo(): Promise<void> {
  Bun.shrink();
  // It is done once nothing of ours runs.
  await new Promise<void>((resolve) => setImmediate(resolve));
}
