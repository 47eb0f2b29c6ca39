import { useCall } from "../../api/use-call.ts";
import { useSession } from "../../session/session-context.tsx";
import { useWorkspace } from "../../session/workspace.ts";
import { isDemoName } from "./demo-name.ts";
import { type Step, stepsOf } from "./steps.ts";
import { useHidden } from "./use-hidden.ts";

interface FirstSteps {
  readonly steps: readonly Step[];
  /** Skips adding a provider; null: there is no demo. */
  readonly goOnWithDemo: (() => void) | null;
}

/** The setup progress of a new installation, for the current user. */
export function useFirstSteps(): FirstSteps {
  const { answer, user } = useSession();
  const workspace = useWorkspace();
  const [withDemo, goOnWithDemo] = useHidden("own-provider");
  const { first_steps: done, demo, workspaces } = answer;
  const needsProviders = user.administrator && done.provider && !done.model;
  const providers = useCall("providers.list", { enabled: needsProviders });
  const models = useCall("models.list", { enabled: !done.call });
  const own = providers.data?.data.find((provider) => provider.kind !== "demo");
  const chats = models.data?.data.filter((model) => model.type === "chat") ?? [];
  const chat = chats.find((model) => !isDemoName(model.name)) ?? chats[0];
  const only = workspaces.length === 1 ? workspaces[0]?.slug : undefined;
  const steps = stepsOf({
    done,
    demo,
    withDemo,
    administrator: user.administrator,
    member: workspace.may("member"),
    workspace: workspace.slug ?? only ?? null,
    provider: own?.id ?? null,
    model: chat?.name ?? null,
  });
  return { steps, goOnWithDemo: demo && !withDemo && user.administrator ? goOnWithDemo : null };
}
