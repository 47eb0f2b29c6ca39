import { dns } from "bun";

/**
 * Preloaded into a gateway, it maps one public host name and address to this machine, so that a test's webhook receiver on loopback
 * passes the guard against private addresses. Nothing leaves the machine.
 */
export const publicHost = "hooks.callers.example";

/** An address outside every range that the guard blocks; connections to it go to loopback. */
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
