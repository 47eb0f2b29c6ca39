import { Assets, createAssetStore } from "#assets/index.ts";
import type { BodyWork } from "#bodies/index.ts";
import type { Environment } from "#config/index.ts";
import type { CallerMemory } from "#core/index.ts";
import type { Recorder } from "#ledger/index.ts";
import type { Admission } from "#limits/index.ts";
import type { Explainer, Journal, Observer, Spool, Transport } from "#ports/index.ts";
import type { ProviderClient } from "#provider-client/index.ts";
import type { Router } from "#routing/index.ts";
import { systemChance } from "#system/index.ts";
import { createTaskStore, VideoTasks } from "#tasks/index.ts";
import type { ConfigSnapshotHolder } from "./config-snapshot-holder.ts";
import type { Control } from "./control.ts";
import { holderOf } from "./holder.ts";
import { openBlobs } from "./open-blobs.ts";
import { webhookSecretsOf } from "./webhook-secret.ts";

export interface MediaOptions {
  readonly environment: Environment;
  readonly control: Control;
  readonly configSnapshot: ConfigSnapshotHolder;
  readonly router: Router;
  readonly admission: Admission;
  readonly recorder: Recorder;
  readonly journal: Pick<Journal, "drained">;
  readonly transport: Transport;
  readonly providerClient: ProviderClient;
  readonly spool: Spool;
  readonly observer: Observer;
  readonly explainer: Pick<Explainer, "explain">;
  readonly bodies: BodyWork;
  readonly memory: CallerMemory;
}

/** Everything that lasts longer than a call: video tasks, assets, and the bytes of both. */
export interface Media {
  readonly videos: VideoTasks;
  readonly assets: Assets;
  /** What was under way goes on; before the port opens, so that nothing is reserved twice. */
  start(): Promise<void>;
  /** Waits for what is being done now; the rest is picked up by whoever starts next. */
  stop(): Promise<void>;
}

export function openMedia(options: MediaOptions): Media {
  const { environment, control, configSnapshot, transport, providerClient, observer } = options;
  const { clock, ids, vault } = control;
  const { publicUrl } = environment;
  const blobs = openBlobs(environment, { clock, transport, spool: options.spool });
  const shared = {
    blobs,
    transport,
    providerClient,
    configSnapshot: () => configSnapshot.current,
    clock,
    ids,
    chance: systemChance,
    observer,
  };
  const assets = new Assets({
    ...shared,
    store: createAssetStore({ database: control.database }),
    signer: {
      sign: (text) => vault.derive("blob link", text),
      signatures: (text) => vault.deriveValid("blob link", text, clock.now()),
    },
    publicUrl: () => publicUrl,
  });
  const videos = new VideoTasks({
    ...shared,
    store: createTaskStore({ database: control.database, vault }),
    router: options.router,
    admission: options.admission,
    recorder: options.recorder,
    journal: options.journal,
    ledger: control.ledgerStore,
    principalOf: (holder) => holderOf(options, holder),
    explainer: options.explainer,
    bodies: options.bodies,
    memory: options.memory,
    assets,
    unusedBlobs: assets,
    secrets: {
      webhookSecrets: (workspaceId) => webhookSecretsOf(vault, workspaceId, clock.now()),
      callbackToken: (taskId) => vault.derive("video callback", taskId),
      callbackTokens: (taskId) => vault.deriveValid("video callback", taskId, clock.now()),
    },
    publicUrl,
    webhookPlaces: environment.webhookPlaces,
    copyResults: () => configSnapshot.current.settings.videoCopyResults,
  });
  return {
    videos,
    assets,
    async start() {
      await videos.restoreHolds();
      videos.start();
      assets.start();
    },
    async stop() {
      await Promise.all([videos.stop(), assets.stop()]);
    },
  };
}
