/**
 * The least processor time, in milliseconds, of `act`, out of several runs. Use it to check that a cost does not grow: on a
 * busy machine, elapsed time measures the other work.
 */
export function leastCpuMs(act: () => void, runs = 5): number {
  const times = Array.from({ length: runs }, () => {
    const before = process.cpuUsage();
    act();
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1_000;
  });
  return Math.min(...times);
}
