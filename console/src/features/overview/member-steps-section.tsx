import { Button } from "@mantine/core";
import { useCall } from "../../api/use-call.ts";
import { Section } from "../../components/section.tsx";
import { t } from "../../language/areas/overview.ts";
import { useSession } from "../../session/session-context.tsx";
import { useWorkspace } from "../../session/workspace.ts";
import { nextStep, type Step } from "../first-run/steps.ts";
import { useHidden } from "../first-run/use-hidden.ts";
import { memberSteps } from "./member-steps.ts";
import { StepRow } from "./step-row.tsx";

/** First steps of an invited member: a personal key and a first request. */
export function MemberSteps() {
  const workspace = useWorkspace();
  const { workspaces } = useSession().answer;
  const [hidden, hide] = useHidden("member-steps");
  const keys = useCall("keys.list", {
    params: { workspace: workspace.path },
    query: { mine: "true", limit: 50 },
    enabled: !hidden,
  });
  if (hidden || keys.data === undefined) return null;
  const only = workspaces.length === 1 ? workspaces[0]?.slug : undefined;
  const steps = memberSteps(keys.data.data, workspace.may("member"), workspace.slug ?? only ?? null);
  if (steps.every((step: Step) => step.done)) return null;
  const next = nextStep(steps);
  return (
    <Section
      title={t("overview.steps.title")}
      description={
        workspace.may("member")
          ? t("overview.steps.count", { done: steps.filter((step) => step.done).length, total: steps.length })
          : t("overview.steps.viewer")
      }
      actions={
        <Button variant="subtle" onClick={hide}>
          {t("overview.steps.hide")}
        </Button>
      }
    >
      <ol className="plain-list">
        {steps.map((step, place) => (
          <StepRow key={step.id} step={step} place={place + 1} isNext={step === next} onSkip={null} />
        ))}
      </ol>
    </Section>
  );
}
