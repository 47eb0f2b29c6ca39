import { dns } from "bun";

/**
 * The machine's resolver, over Bun's asynchronous client: a dead name server must not block the threads that do the
 * other work. IPv4 first, because fetch has no race between families and a broken IPv6 route is the commoner fault.
 */
export async function systemResolve(hostname: string): Promise<readonly string[]> {
  const found = await dns.lookup(hostname, { family: 0 });
  const addresses = found.toSorted((a, b) => a.family - b.family).map(({ address }) => address);
  return [...new Set(addresses)];
}
