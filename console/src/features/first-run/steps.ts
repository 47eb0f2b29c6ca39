import type { SessionAnswer } from "@sluice/contract";
import type { LinkProps } from "@tanstack/react-router";
import { t } from "../../language/areas/first-run.ts";

type StepId = "provider" | "model" | "key" | "call";

export interface Step {
  readonly id: StepId;
  readonly done: boolean;
  /** Skipped: the built-in demo answers instead. */
  readonly skipped: boolean;
  readonly title: string;
  readonly why: string;
  /** null: it needs a user with more permissions. */
  readonly action: { readonly label: string; readonly link: LinkProps } | null;
}

export interface StepFacts {
  readonly done: SessionAnswer["first_steps"];
  /** Only the built-in demo answers. */
  readonly demo: boolean;
  /** The user chose to start with the demo. */
  readonly withDemo: boolean;
  readonly administrator: boolean;
  readonly member: boolean;
  /** The workspace to use; null: several exist and none is chosen. */
  readonly workspace: string | null;
  /** The first provider other than the demo; null: none, or still loading. */
  readonly provider: string | null;
  /** The chat model to try; null: the first available. */
  readonly model: string | null;
}

export const firstPrompt = t("firstRun.prompt");

/** The steps of a new installation up to the first answer, each with a link to the right place. */
export function stepsOf(facts: StepFacts): readonly Step[] {
  const { done, demo, withDemo, administrator, member } = facts;
  const place = facts.workspace === null ? {} : { workspace: facts.workspace };
  const skipped = withDemo && demo;
  return [
    {
      id: "provider",
      done: done.provider,
      skipped: skipped && !done.provider,
      title: t("firstRun.provider.title"),
      why: demo ? t("firstRun.provider.demo") : t("firstRun.provider.help"),
      action: administrator
        ? { label: t("firstRun.provider.action"), link: { to: "/providers", search: { add: "choose" } } }
        : null,
    },
    {
      id: "model",
      done: done.model,
      skipped: skipped && !done.model,
      title: t("firstRun.model.title"),
      why: t("firstRun.model.help"),
      action: administrator ? { label: t("firstRun.model.title"), link: modelsLink(facts.provider) } : null,
    },
    {
      id: "key",
      done: done.key,
      skipped: false,
      title: t("firstRun.key.title"),
      why: done.key ? t("firstRun.key.exists") : t("firstRun.key.help"),
      action: member
        ? { label: t("firstRun.key.action"), link: { to: "/keys", search: { ...place, create: "1" } } }
        : null,
    },
    {
      id: "call",
      done: done.call,
      skipped: false,
      title: t("firstRun.call.title"),
      why: t("firstRun.call.help"),
      action: member ? { label: t("firstRun.call.action"), link: playgroundLink(facts, place) } : null,
    },
  ];
}

/** The next step; null: there is none that this user can perform. */
export function nextStep(steps: readonly Step[]): Step | null {
  return steps.find((step) => !step.done && !step.skipped && step.action !== null) ?? null;
}

/** Whether the user is already at a step: its page is open at the right part. */
export function isHere(
  { action }: Step,
  pathname: string,
  search: Readonly<Record<string, string | undefined>>,
): boolean {
  if (action === null) return false;
  const {
    to,
    params,
    search: asked,
  } = action.link as {
    readonly to: string;
    readonly params?: Readonly<Record<string, string>>;
    readonly search?: Readonly<Record<string, string>>;
  };
  const target = Object.entries(params ?? {}).reduce((path, [name, value]) => path.replace(`$${name}`, value), to);
  const { tab, add, create } = asked ?? {};
  return (
    target === pathname &&
    (tab === undefined || search["tab"] === tab) &&
    // Any provider type may be selected by now.
    (add === undefined || (search["add"] ?? "") !== "") &&
    (create === undefined || (search["create"] ?? "") !== "")
  );
}

function modelsLink(provider: string | null): LinkProps {
  if (provider === null) return { to: "/models", search: { add: "1" } };
  return { to: "/providers/$provider", params: { provider }, search: { tab: "import" } };
}

function playgroundLink({ model }: StepFacts, place: { readonly workspace?: string }): LinkProps {
  const search = { ...place, type: "chat", ...(model === null ? {} : { model }), prompt: firstPrompt };
  return { to: "/playground", search };
}
