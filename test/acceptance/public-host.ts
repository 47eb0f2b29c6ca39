import { dns } from "bun";

/**
 * Loaded before a gateway, it gives this machine one name and address that are public, so that a caller's host on loopback can be told
 * of ends as any other: the guard against private addresses sees what it would see outside. Nothing leaves the machine.
 */
export const publicHost = "hooks.callers.example";

/** An address of no range that the guard knows; connections to it go to loopback. */
const publicAddress = "44.44.44.44";

if (process.env["PUBLIC_HOST"] !== undefined) {
  const realLookup = dns.lookup.bind(dns);
  Reflect.set(dns, "lookup", (name: string, options: Parameters<typeof dns.lookup>[1]) =>
    name === publicHost ? Promise.resolve([{ address: publicAddress, family: 4, ttl: 60 }]) : realLookup(name, options),
  );
  const realConnect = Bun.connect.bind(Bun);
  Reflect.set(Bun, "connect", (options: { readonly hostname?: string }) =>
    realConnect(
      (options.hostname === publicAddress ? { ...options, hostname: "127.0.0.1" } : options) as Parameters<
        typeof realConnect
      >[0],
    ),
  );
}
