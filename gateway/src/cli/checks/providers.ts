import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Provider } from "#core/index.ts";
import type { ProviderProbe } from "#provider-client/index.ts";
import { providerKind } from "#providers/index.ts";
import { failureLine } from "../failure-line.ts";
import { withControl } from "../open.ts";
import { ownProbe } from "../own-probe.ts";
import { type Check, type Finding, fail, ok, warn } from "./finding.ts";

const skewMsMax = 5 * 60_000;
const atOnceMax = 8;

/** Requests the list of models of each enabled provider, which is free. Only with `--online`. */
export const providersCheck: Check = async ({ environment, variables, clock, online }) => {
  if (!online) return [ok("providers", "not checked; use --online")];
  if (environment.databaseUrl === null && !existsSync(join(environment.dataDir, "sluice.db")))
    return [ok("providers", "none before the first start")];
  const { probe, withSecrets } = ownProbe(clock, environment);
  let providers: readonly Provider[];
  try {
    const stored = await withControl(variables, ({ controlStore }) => controlStore.configSnapshot());
    const configSnapshot = await withSecrets(stored);
    providers = [...configSnapshot.providers.values()].filter((provider) => provider.enabled);
  } catch (thrown) {
    return [fail("providers", failureLine(thrown), "see the checks above")];
  }
  if (providers.length === 0) return [warn("providers", "there are none", "add one in the console or the config file")];
  const findings: Finding[] = [];
  for (let from = 0; from < providers.length; from += atOnceMax) {
    const some = providers.slice(from, from + atOnceMax);
    findings.push(...(await Promise.all(some.map((provider) => askedFor(provider, probe, clock.now.bind(clock))))));
  }
  return findings;
};

async function askedFor(provider: Provider, probe: ProviderProbe, now: () => number): Promise<Finding> {
  const name = `provider ${provider.id}`;
  const kind = providerKind(provider.kind);
  if (kind === null) return fail(name, `unknown kind ${provider.kind}`, "start a version that supports it");
  const listing = await probe.listModels(provider, kind, new AbortController().signal);
  if (listing === null)
    return ok(name, `has no list of models, so it was not checked; try \`sluice provider test ${provider.id}\``);
  const { status, ms, problem, advice, models, date } = listing;
  if (status === 0) {
    return fail(name, problem ?? "no answer", advice ?? "check base_url, the network and allow_private_network");
  }
  if (status === 401 || status === 403) {
    return fail(name, problem ?? `status ${status}`, advice ?? "check its api_key");
  }
  if (date !== null && Math.abs(date - now()) > skewMsMax) {
    const minutes = Math.round((now() - date) / 60_000);
    return warn(name, `its clock differs from ours by ${minutes} minutes`, "set this machine's clock");
  }
  if (problem !== null) {
    return warn(
      name,
      `reached, but ${problem}`,
      `it may have no list of models; try \`sluice provider test ${provider.id}\``,
    );
  }
  return ok(name, `${models?.length ?? "no list of"} models, ${Math.round(ms)} ms`);
}
