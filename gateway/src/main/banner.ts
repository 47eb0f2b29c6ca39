import type { Catalog, Secret } from "#core/index.ts";

export interface BannerFacts {
  readonly url: string;
  readonly version: string;
  readonly setupToken: string | null;
  readonly keySecret: Secret | null;
  readonly found: readonly string[];
  /** Variables with provider keys that were not taken. */
  readonly unused: readonly string[];
  readonly catalog: Catalog;
  readonly dataDir: string;
  readonly configFile: string | null;
  /** What was done to bring the database up to this version. */
  readonly upgrade: { readonly ran: readonly string[]; readonly copy: string | null };
  readonly recovered: number;
}

/** What a person needs to see at the start: where the console is, a call that works, and what was found. */
export function banner(facts: BannerFacts): string {
  const models = [...facts.catalog.models.keys()];
  const providers = [...facts.catalog.providers.values()].map((provider) => provider.id);
  const model = models[0] ?? "<model>";
  const key = facts.keySecret?.reveal() ?? "$SLUICE_KEY";
  const lines = [
    "",
    `Sluice ${facts.version} is ready on ${facts.url}`,
    "",
    `  Console    ${facts.url}/console/${facts.setupToken === null ? "" : `#setup=${facts.setupToken}`}`,
    ...(facts.setupToken === null ? [] : ["             (the link makes the first administrator; it works once)"]),
    `  Reference  ${facts.url}/docs`,
    `  Data       ${facts.dataDir}`,
    ...(facts.configFile === null ? [] : [`  Config     ${facts.configFile} (watched)`]),
    `  Providers  ${listed(providers, "none yet")}${facts.found.length > 0 ? `, found: ${facts.found.join(", ")}` : ""}`,
    ...(facts.unused.length === 0
      ? []
      : [
          `  Not used   ${listed(facts.unused, "")} (there are providers already; add these in the console or the config file)`,
        ]),
    `  Models     ${listed(models, "none yet")}`,
    ...(facts.upgrade.copy === null
      ? []
      : [`  Upgraded   the database to schema ${facts.upgrade.ran.at(-1)}; as it was before: ${facts.upgrade.copy}`]),
    ...(facts.recovered > 0 ? [`  Recovered  ${facts.recovered} ledger entries of an earlier run`] : []),
    "",
    facts.keySecret === null
      ? "Try it, with a key of yours in SLUICE_KEY (make one: npm run sluice -- key create):"
      : "Try it (this key is shown once; make others: npm run sluice -- key create):",
    "",
    `  curl -N ${facts.url}/v1/chat/completions -H 'content-type: application/json' \\`,
    `    -H ${key.startsWith("$") ? `"authorization: Bearer ${key}"` : `'authorization: Bearer ${key}'`} \\`,
    `    -d '{"model":${JSON.stringify(model)},"stream":true,"messages":[{"role":"user","content":"Hello, Sluice!"}]}'`,
    "",
    "",
  ];
  return lines.join("\n");
}

function listed(names: readonly string[], none: string): string {
  if (names.length === 0) return none;
  const shown = names.slice(0, 8).join(", ");
  return names.length > 8 ? `${shown} and ${names.length - 8} more` : shown;
}
