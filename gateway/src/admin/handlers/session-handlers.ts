import type { SessionAnswer } from "@sluice/contract";
import { type Actor, bounds, type ConfigSnapshot, roleIn, type Workspace } from "#core/index.ts";
import type { PeopleStore } from "#directory/index.ts";
import type { Clock, LedgerStore, ReportStore, SignIn } from "#ports/index.ts";
import { type CallsOriginOptions, callsOrigin } from "./calls-origin.ts";
import type { Handlers } from "./handler.ts";

export interface SessionHandlerDependencies extends CallsOriginOptions {
  readonly people: PeopleStore;
  readonly signIn: SignIn;
  readonly configSnapshot: () => ConfigSnapshot;
  readonly reports: Pick<ReportStore, "keys">;
  readonly ledgerStore: Pick<LedgerStore, "page">;
  readonly clock: Clock;
  readonly version: string;
}

/** The call every page of the console begins with. */
export function sessionHandlers(dependencies: SessionHandlerDependencies): Handlers<"session.show"> {
  const { people, signIn, configSnapshot } = dependencies;
  const steps = firstSteps(dependencies);
  // The last administrator stays one, so that this never turns back.
  let governed = false;
  return {
    "session.show": async ({ actor, request }) => {
      governed ||= actor !== null || (await people.administratorExists());
      const user = actor === null ? null : await people.user(actor.userId);
      const { shown, more } = workspacesOf(actor, configSnapshot());
      return {
        user:
          user === null || actor === null
            ? null
            : {
                id: user.id,
                email: user.email,
                name: user.name,
                administrator: actor.administrator,
                language: user.language,
              },
        via: actor === null ? null : actor.kind === "token" ? "token" : "session",
        fresh: actor?.fresh ?? false,
        workspaces: shown,
        ...(more > 0 ? { workspaces_more: more } : {}),
        methods: methodsOf(signIn),
        setup_needed: !governed,
        version: actor === null ? null : dependencies.version,
        demo: [...configSnapshot().providers.values()].every((provider) => provider.kind === "demo"),
        public_url: callsOrigin(dependencies, request),
        first_steps: await steps(),
      };
    },
  };
}

function methodsOf(signIn: SignIn): SessionAnswer["methods"] {
  const { password, passkey, oidc } = signIn.methods();
  return { password, passkey, oidc: oidc.map(({ id, name }) => ({ id, name })) };
}

/** One's own workspaces first, then, for an administrator, the others, by name; as many as one answer carries. */
function workspacesOf(actor: Actor | null, { workspaces }: ConfigSnapshot) {
  if (actor === null) return { shown: [], more: 0 };
  const own = (workspace: Workspace) => actor.roles.has(workspace.id);
  const seen = [...workspaces.values()]
    .filter((workspace) => actor.administrator || own(workspace))
    .sort((one, other) => Number(own(other)) - Number(own(one)) || one.name.localeCompare(other.name));
  const shown = seen.slice(0, bounds.sessionWorkspacesMax).map(({ id, slug, name }) => ({
    id,
    slug,
    name,
    role: roleIn(actor, id) ?? "viewer",
  }));
  return { shown, more: seen.length - shown.length };
}

/**
 * How far a new installation has come. The built-in demo is no provider of one's own. A key and a call are asked for until
 * there is one, by an index, and never again.
 */
function firstSteps({ configSnapshot, reports, ledgerStore, clock }: SessionHandlerDependencies) {
  let key = false;
  let call = false;
  return async (): Promise<SessionAnswer["first_steps"]> => {
    const { providers, models } = configSnapshot();
    const real = [...providers.values()].filter((provider) => provider.kind !== "demo");
    const model = [...models.values()].some((each) =>
      each.deployments.some((deployment) => deployment.provider.kind !== "demo"),
    );
    key ||= (await reports.keys({ workspaceId: null, now: clock.now() }, null, 1)).data.length > 0;
    call ||= (await ledgerStore.page({}, null, 1)).entries.length > 0;
    return { provider: real.length > 0, model, key, call };
  };
}
