import { randomBytes } from "node:crypto";
import type { Environment } from "#config/index.ts";
import { Secret, shortRevision } from "#core/index.ts";
import type { FirstSecrets } from "#storage/index.ts";
import { isBuilt } from "#system/index.ts";
import type { Control } from "./control.ts";
import { firstKey, type StarterProviders } from "./first-start.ts";
import type { Gateway } from "./gateway.ts";
import { shownOrigin } from "./listeners.ts";
import { inTurn, type Processes } from "./processes.ts";

interface AnnouncementOptions extends StarterProviders {
  readonly environment: Environment;
  readonly control: Control;
  readonly processes: Processes;
  readonly gateway: Gateway;
  readonly secrets: FirstSecrets;
  readonly version: string;
  readonly revision: string;
  /** Why the config file was refused; null if it was not. */
  readonly refused: string | null;
  /** Standard output is a person's terminal. */
  readonly interactive: boolean;
}

/** A secret of the first start: the value for a person at a terminal, otherwise the file that holds it. */
type FirstSecret = { readonly shown: Secret } | { readonly file: string };

type Facts = Awaited<ReturnType<typeof collectFacts>>;

/**
 * Creates the first key and returns the text to print. Call it when the ports are open, so that a failed start leaves no key with
 * an unseen secret. Secrets are printed on a terminal only; otherwise they go into files, because printed lines are collected.
 */
export async function announcement(options: AnnouncementOptions): Promise<string> {
  const facts = await collectFacts(options);
  const { environment, control } = options;
  return environment.logFormat === "json" ? jsonLine(facts, control.clock.now()) : banner(facts);
}

async function collectFacts(options: AnnouncementOptions) {
  const { environment, control, processes, gateway, secrets, version, revision, found, unused, refused } = options;
  const isShown = options.interactive && environment.logFormat !== "json";
  let key: FirstSecret | null = null;
  const turn = { leadership: processes.leadership, clock: control.clock };
  const created = await inTurn(turn, "first start", () =>
    firstKey(control.controlStore, randomBytes, (secret) => {
      key = isShown ? { shown: secret } : { file: secrets.keepKey(secret.reveal()) };
    }),
  );
  if (created !== null) await gateway.configSnapshot.refresh();
  else key = await keyOfEarlierStart(control, secrets);
  const url = environment.publicUrl ?? shownOrigin(environment, environment.host, gateway.server.port);
  const { admin, dataDir, configFile } = environment;
  const consoleUrl = admin === null ? url : (admin.url ?? shownOrigin(environment, admin.host, gateway.consolePort));
  const token = gateway.setup.token();
  const { providers, models } = gateway.configSnapshot.current;
  return {
    ...{ url, consoleUrl, version, revision, found, unused, refused, dataDir, configFile },
    setup: token === null ? null : setupLink(`${consoleUrl}/console/#setup=${token}`, isShown, secrets),
    firstKey: key as FirstSecret | null,
    providers: [...providers.keys()],
    models: [...models.keys()],
    upgrade: control.upgrade,
    recovered: gateway.recovered,
  };
}

/** The first key of an earlier start that may have ended before it printed it. Its file exists until the setup is done. */
async function keyOfEarlierStart({ controlStore, vault }: Control, secrets: FirstSecrets): Promise<FirstSecret | null> {
  const key = secrets.keptKey();
  if (key === null || (await controlStore.find(vault.digest(key.secret))) === null) return null;
  return { file: key.file };
}

/** Replaces the link of an earlier run. */
function setupLink(link: string, isShown: boolean, secrets: FirstSecrets): FirstSecret {
  if (!isShown) return { file: secrets.keepLink(link) };
  secrets.removeLink();
  return { shown: new Secret(link) };
}

/** For people: where the console is, a call that works, and what was found. */
function banner(facts: Facts): string {
  const { refused, configFile, found, unused, upgrade, recovered, url } = facts;
  const model = facts.models[0] ?? "<model>";
  const state = refused === null ? "watched" : "REFUSED; the previous configuration is used";
  const lines = [
    "",
    `Sluice ${facts.version} (${shortRevision(facts.revision)}) is ready on ${url}`,
    "",
    ...consoleLines(facts),
    `  Reference  ${facts.consoleUrl}/docs`,
    `  Data       ${facts.dataDir}`,
    ...(configFile === null ? [] : [`  Config     ${configFile} (${state})`]),
    `  Providers  ${listed(facts.providers, "none yet")}${found.length > 0 ? `, found: ${found.join(", ")}` : ""}`,
    ...(unused.length === 0
      ? []
      : [`  Not used   ${listed(unused, "")} (providers exist already; add these in the console or the config file)`]),
    `  Models     ${listed(facts.models, "none yet")}`,
    ...(upgrade.copy === null
      ? []
      : [`  Upgraded   the database to schema ${upgrade.ran.at(-1)}; copy of the old one: ${upgrade.copy}`]),
    ...(recovered > 0 ? [`  Recovered  ${recovered} ledger entries of an earlier run`] : []),
    "",
    keyLine(facts.firstKey),
    "",
    `  curl -N ${url}/v1/chat/completions -H 'content-type: application/json' \\`,
    `    -H ${authorization(facts.firstKey)} \\`,
    `    -d '{"model":${JSON.stringify(model)},"stream":true,"messages":[{"role":"user","content":"Hello, Sluice!"}]}'`,
    "",
    "",
  ];
  return lines.join("\n");
}

/** For machines: one line of JSON, like the lines of the log. */
function jsonLine(facts: Facts, now: number): string {
  const file = (secret: FirstSecret | null) => (secret !== null && "file" in secret ? secret.file : undefined);
  const line = {
    level: "info",
    time: new Date(now).toISOString(),
    msg: "Sluice is ready.",
    version: facts.version,
    revision: facts.revision,
    url: facts.url,
    console: `${facts.consoleUrl}/console/`,
    reference: `${facts.consoleUrl}/docs`,
    setup_link_file: file(facts.setup),
    first_key_file: file(facts.firstKey),
    data: facts.dataDir,
    config: facts.configFile ?? undefined,
    config_refused: facts.refused ?? undefined,
    providers: facts.providers,
    models: facts.models.slice(0, modelsMax),
    found: facts.found,
    not_used: facts.unused,
    upgraded_from_copy: facts.upgrade.copy ?? undefined,
    recovered: facts.recovered,
  };
  return `${JSON.stringify(line)}\n`;
}

const modelsMax = 100;

function consoleLines({ consoleUrl, setup }: Facts): string[] {
  if (setup !== null && "shown" in setup) {
    return [
      `  Console    ${setup.shown.reveal()}`,
      "             (the link creates the first administrator; it works once)",
    ];
  }
  return [
    `  Console    ${consoleUrl}/console/`,
    ...(setup === null ? [] : [`  Setup      the link that creates the first administrator is in ${setup.file}`]),
  ];
}

function keyLine(key: FirstSecret | null): string {
  if (key === null) return `Try it with your own key in SLUICE_KEY (create one: ${commandLine} key create):`;
  if ("shown" in key) return `Try it (this key is shown once; create others: ${commandLine} key create):`;
  return `Try it (the first key stays in the file until the setup is done; create others: ${commandLine} key create):`;
}

const commandLine = isBuilt ? "sluice" : "npm run sluice --";

function authorization(key: FirstSecret | null): string {
  if (key === null) return `"authorization: Bearer $SLUICE_KEY"`;
  if ("shown" in key) return `'authorization: Bearer ${key.shown.reveal()}'`;
  return `"authorization: Bearer $(cat '${key.file.replaceAll("'", "'\\''")}')"`;
}

function listed(names: readonly string[], none: string): string {
  if (names.length === 0) return none;
  const shown = names.slice(0, 8).join(", ");
  return names.length > 8 ? `${shown} and ${names.length - 8} more` : shown;
}
