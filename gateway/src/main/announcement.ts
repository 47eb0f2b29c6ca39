import { randomBytes } from "node:crypto";
import type { Environment } from "#config/index.ts";
import { Secret } from "#core/index.ts";
import type { FirstSecrets } from "#storage/index.ts";
import { type BannerFacts, banner, bannerLine, type FirstSecret } from "./banner.ts";
import type { Control } from "./control.ts";
import { firstKey } from "./first-start.ts";
import type { Gateway } from "./gateway-options.ts";
import { inTurn } from "./in-turn.ts";
import { shownOrigin } from "./listeners.ts";
import type { Processes } from "./processes.ts";

export interface AnnouncementOptions
  extends Pick<BannerFacts, "found" | "unused" | "version" | "revision" | "refused"> {
  readonly environment: Environment;
  readonly control: Control;
  readonly processes: Processes;
  readonly gateway: Gateway;
  readonly secrets: FirstSecrets;
  /** A person reads what is printed, and nobody collects it. */
  readonly interactive: boolean;
}

/**
 * Makes the first key, now that the port is open and it will be shown: a start that fails must not leave a key whose secret
 * nobody has seen. Gives what is to be printed. Secrets stand in it on a terminal only; elsewhere they go into files, because
 * what is printed there is collected and read by others.
 */
export async function announcement(dependencies: AnnouncementOptions): Promise<string> {
  const { environment, control, gateway, secrets } = dependencies;
  const json = environment.logFormat === "json";
  const shows = dependencies.interactive && !json;
  let key: FirstSecret | null = null;
  const { leadership } = dependencies.processes;
  const keySecret = await inTurn({ leadership, clock: control.clock }, "first start", () =>
    firstKey(control.controlStore, randomBytes, (secret) => {
      key = shows ? { shown: secret } : { file: secrets.keepKey(secret.reveal()) };
    }),
  );
  if (keySecret !== null) await gateway.configSnapshot.refresh();
  else key = await keptKey(control, secrets);
  const url = environment.publicUrl ?? shownOrigin(environment, environment.host, gateway.server.port);
  const { admin } = environment;
  const console = admin === null ? url : (admin.url ?? shownOrigin(environment, admin.host, gateway.consolePort));
  const token = gateway.setup.token();
  const facts: BannerFacts = {
    url,
    consoleUrl: console,
    version: dependencies.version,
    revision: dependencies.revision,
    setup: token === null ? null : setupLink(`${console}/console/#setup=${token}`, shows, secrets),
    firstKey: key,
    found: dependencies.found,
    unused: dependencies.unused,
    configSnapshot: gateway.configSnapshot.current,
    dataDir: environment.dataDir,
    upgrade: control.upgrade,
    configFile: environment.configFile,
    refused: dependencies.refused,
    recovered: gateway.recovered,
  };
  return json ? bannerLine(facts, control.clock.now()) : banner(facts);
}

/**
 * The first key of an earlier start, which may have ended before it could say so: on a full disk, say. It is in its file until
 * somebody has set the installation up.
 */
async function keptKey({ controlStore, vault }: Control, secrets: FirstSecrets): Promise<FirstSecret | null> {
  const kept = secrets.keptKey();
  if (kept === null || (await controlStore.find(vault.digest(kept.secret))) === null) return null;
  return { file: kept.file };
}

/** Takes the place of the link of an earlier run. That of another process that runs stays: then there is none to show here. */
function setupLink(link: string, shows: boolean, secrets: FirstSecrets): FirstSecret {
  if (!shows) return { file: secrets.keepLink(link) };
  secrets.removeLink();
  return { shown: new Secret(link) };
}
