import type { ConsoleUser, SessionAnswer } from "@sluice/contract";
import { productName } from "@sluice/contract/words";
import { type Actor, bounds, type ConfigSnapshot, roleIn } from "#core/index.ts";
import type { ConsoleDependencies } from "../dependencies.ts";
import { visibleWorkspaces } from "./callers.ts";
import type { Handlers } from "./calls.ts";
import { callsOrigin } from "./origins.ts";

/** The first call of every console page. */
export function sessionHandlers(dependencies: ConsoleDependencies) {
  const { people, signIn, configSnapshot } = dependencies;
  const steps = firstSteps(dependencies);
  const hasMedia = mediaInUse(dependencies);
  // The last administrator cannot be removed, so this never becomes false again.
  let governed = false;
  return {
    "session.show": async ({ actor, request }) => {
      governed ||= actor !== null || (await people.administratorExists());
      const user = actor === null ? null : await people.user(actor.userId);
      const { shown, more } = workspacesOf(actor, configSnapshot());
      return {
        user: user === null || actor === null ? null : userView(user, actor),
        via: actor === null ? null : actor.kind === "token" ? "token" : "session",
        fresh: actor?.fresh ?? false,
        workspaces: shown,
        ...(more > 0 ? { workspaces_more: more } : {}),
        methods: signIn.methods(),
        setup_needed: !governed,
        version: actor === null ? null : dependencies.version,
        demo: [...configSnapshot().providers.values()].every((provider) => provider.kind === "demo"),
        public_url: callsOrigin(dependencies, request),
        brand: brandOf(configSnapshot()),
        announcement: actor === null ? "" : configSnapshot().settings["console.announcement"],
        media: actor !== null && (await hasMedia()),
        first_steps: await steps(),
      };
    },
  } satisfies Partial<Handlers>;
}

function brandOf({ settings }: ConfigSnapshot) {
  return { name: productName(settings), accent: settings["console.accent"], logo: settings["console.logo"] };
}

function userView({ id, email, name, language }: ConsoleUser, { administrator }: Actor) {
  return { id, email, name, administrator, language };
}

function workspacesOf(actor: Actor | null, configSnapshot: ConfigSnapshot) {
  if (actor === null) return { shown: [], more: 0 };
  const seen = visibleWorkspaces(actor, configSnapshot);
  const shown = seen.slice(0, bounds.sessionWorkspacesMax).map(({ id, slug, name }) => ({
    ...{ id, slug, name },
    role: roleIn(actor, id) ?? "viewer",
  }));
  return { shown, more: seen.length - shown.length };
}

/** Whether to show the media pages. Reads tasks and assets until there is one. */
function mediaInUse({ configSnapshot, videos, assets }: ConsoleDependencies) {
  let found = false;
  return async (): Promise<boolean> => {
    if (
      configSnapshot()
        .models.values()
        .some(({ type }) => type === "video")
    )
      return true;
    found ||= (await videos.page({ workspaceId: null }, null, 1)).tasks.length > 0 || (await assets.anyGroup());
    return found;
  };
}

/** Setup steps done. The built-in demo does not count as a provider. Keys and calls are only looked up until there is one. */
function firstSteps({ configSnapshot, reports, ledgerStore, clock }: ConsoleDependencies) {
  let key = false;
  let call = false;
  return async (): Promise<SessionAnswer["first_steps"]> => {
    const { providers, models } = configSnapshot();
    const real = [...providers.values()].filter((provider) => provider.kind !== "demo");
    const model = models
      .values()
      .some(({ deployments }) => deployments.some((deployment) => deployment.provider.kind !== "demo"));
    key ||= (await reports.keys({ workspaceId: null, now: clock.now() }, null, 1)).data.length > 0;
    call ||= (await ledgerStore.page({}, null, 1)).entries.length > 0;
    return { provider: real.length > 0, model, key, call };
  };
}
