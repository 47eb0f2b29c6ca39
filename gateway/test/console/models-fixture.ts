import { type RunningSimulator, serveSimulator } from "@sluice/simulator";
import { type ControlStore, createControlStore } from "#directory/index.ts";
import type { ModelUsage, OidcAccount, ReportStore } from "#ports/index.ts";
import { ProviderClient, ProviderProbe } from "#provider-client/index.ts";
import { Router } from "#routing/index.ts";
import { systemChance, systemClock } from "#system/index.ts";
import { createTransport } from "#upstream/index.ts";
import { endpointsOf, untranslatedEndpointsOf } from "../../src/api/index.ts";
import { kindDefaults } from "../../src/main/config-checks.ts";
import { silentObserver } from "../conformance/store-fixture.ts";
import { type ConsoleFixture, type FixtureAnswer, openConsoleFixture } from "../console-fixture.ts";
import { noWorkload } from "../workload-fixture.ts";

/** Results of the fake reports. The reports store has its own tests. */
interface Figures {
  uses: Awaited<ReturnType<ReportStore["deploymentUse"]>> | Error;
  used: readonly (ModelUsage & { readonly at: number })[];
}

export interface ModelsFixture extends ConsoleFixture {
  readonly controlStore: ControlStore;
  readonly router: Router;
  readonly figures: Figures;
  /** The accounts that sign-in received last. */
  readonly oidc: { accounts: readonly OidcAccount[] };
  readonly simulator: RunningSimulator;
  /** Creates a provider that points to the simulator, through the API. */
  makeProvider(id: string, more?: Readonly<Record<string, unknown>>): Promise<FixtureAnswer>;
  /** Creates a model through the API. */
  makeModel(name: string, more?: Readonly<Record<string, unknown>>): Promise<FixtureAnswer>;
}

/** The API of providers, models and settings with real stores, provider types and outbound transport. */
export async function openModelsFixture(): Promise<ModelsFixture> {
  const simulator = serveSimulator();
  const figures: Figures = { uses: [], used: [] };
  const oidc: ModelsFixture["oidc"] = { accounts: [] };
  const router = new Router({
    clock: systemClock,
    chance: systemChance,
    observer: silentObserver,
  });
  let store: ControlStore | null = null;
  let fresh = Promise.resolve();
  const fixture = await openConsoleFixture(({ database, vault, clock, ids }) => {
    const controlStore = createControlStore({ database, vault, clock, ids, kindDefaults });
    store = controlStore;
    let configSnapshot: Awaited<ReturnType<ControlStore["configSnapshot"]>> | null = null;
    const parts = {
      controlStore,
      router,
      clock,
      endpointsOf,
      untranslatedEndpointsOf,
      mailFrom: null,
      ledgerExport: { keys: null, copiedUntil: async () => null },
      probe: new ProviderProbe(
        new ProviderClient(createTransport({ clock: systemClock }), systemClock, noWorkload),
        systemClock,
      ),
      reports: {
        deploymentUse: async () => {
          if (figures.uses instanceof Error) throw figures.uses;
          return figures.uses;
        },
        modelUsage: async (model: string | null, from: number, to: number) =>
          figures.used.filter((each) => (model ?? each.model) === each.model && each.at >= from && each.at < to),
      },
      signIn: {
        useOidc: (accounts: readonly OidcAccount[]) => {
          oidc.accounts = accounts;
        },
      },
      configSnapshot: () => {
        if (configSnapshot === null) throw new Error("the config snapshot was not read yet");
        return configSnapshot;
      },
      changesSeen: async () => {
        configSnapshot = await controlStore.configSnapshot();
      },
    };
    fresh = parts.changesSeen();
    return parts;
  });
  await fresh;
  if (store === null) throw new Error("the fixture has no store");
  return {
    ...fixture,
    controlStore: store,
    router,
    figures,
    oidc,
    simulator,
    makeProvider: (id, more = {}) =>
      fixture.call("administrator", "providers.create", {
        body: { id, kind: "openai-compatible", base_url: simulator.url, allow_private_network: true, ...more },
      }),
    makeModel: (name, more = {}) =>
      fixture.call("administrator", "models.create", { body: { name, deployments: [{ provider: "main" }], ...more } }),
    async [Symbol.asyncDispose]() {
      simulator.stop();
      await fixture[Symbol.asyncDispose]();
    },
  };
}
