import type { CloudName } from "#ports/index.ts";
import type { CredentialContext } from "./context.ts";
import { noIdentity } from "./unusable.ts";

const titles: Readonly<Record<CloudName, string>> = { aws: "AWS", azure: "Azure", google: "Google Cloud" };

/** Throws unless the operator allows providers to use the machine's identity in this cloud. */
export function requireMachine(context: CredentialContext, cloud: CloudName): void {
  if (!context.workload.allowsCloud(cloud)) {
    throw noIdentity(
      `SLUICE_CLOUD_IDENTITY does not allow providers to use the ${titles[cloud]} identity of the gateway's machine.`,
    );
  }
  requireOwnTrust(context);
}

/** An administrator could read the machine's tokens with a proxy and a certificate authority of theirs. */
export function requireOwnTrust({ trustsOthers }: CredentialContext): void {
  if (!trustsOthers) return;
  throw noIdentity(
    "The provider has its own ca, which the machine's identity excludes. Set SLUICE_CA on the gateway instead.",
  );
}

/**
 * Throws unless a token of the machine's identity may be sent to this address: by https to the vendor, or to a host that the
 * operator allows. Its receiver has all rights of the identity.
 */
export function requireVendor({ workload }: CredentialContext, address: string, vendor: RegExp): void {
  const url = URL.parse(address);
  if (url === null) throw noIdentity("The provider's base URL cannot be used.");
  if (url.protocol === "https:" && url.port === "" && vendor.test(url.hostname)) return;
  if (workload.allowsHost(url.host)) return;
  throw noIdentity(
    "A token of the machine's identity is sent only to the vendor's own hosts: add the provider's host to SLUICE_CLOUD_IDENTITY_HOSTS if you trust it.",
  );
}
