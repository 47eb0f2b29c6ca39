/**
 * Milliseconds of processor time that `act` takes, the least of several runs. For what must not grow with something: on a
 * machine that is busy with other work the clock tells more about that work than about this.
 */
export function leastCpuMs(act: () => void, runs = 5): number {
  const took = Array.from({ length: runs }, () => {
    const before = process.cpuUsage();
    act();
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1_000;
  });
  return Math.min(...took);
}
