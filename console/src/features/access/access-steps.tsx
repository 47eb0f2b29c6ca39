import { Text } from "@mantine/core";
import type { AccessCheck } from "@sluice/contract";
import { IconCircleCheck, IconCircleMinus, IconCircleX } from "@tabler/icons-react";
import type { ReactNode } from "react";
import { PatternsText } from "../../components/patterns-text.tsx";
import { Rich, t } from "../../language/areas/access.ts";
import { kindOf, reasonWords } from "./reason-words.ts";

type Step = AccessCheck["steps"][number];

/** The rules of workspace, group and key in the order of evaluation, then the key's status and the deployments. */
export function AccessSteps({ check }: { readonly check: AccessCheck }) {
  const kind = kindOf(check.reason);
  return (
    <ol className="access-steps">
      {check.steps.map((step) => (
        <PatternStep key={step.scope} step={step} model={check.model} />
      ))}
      {kind === "state" && (
        <StepLine mark="no" title={t("access.step.state")}>
          {reasonWords[check.reason]}
        </StepLine>
      )}
      <Availability check={check} />
    </ol>
  );
}

function PatternStep({ step, model }: { readonly step: Step; readonly model: string }) {
  const { patterns, matched } = step;
  if (patterns === null) {
    return (
      <StepLine mark="none" title={step.label}>
        {t("access.step.noPatterns")}
      </StepLine>
    );
  }
  return (
    <StepLine mark={step.allowed ? "yes" : "no"} title={step.label}>
      {matched === null ? (
        <>
          <span className="break">
            {step.allowed ? t("access.step.shadow", { model }) : t("access.step.noMatch", { model })}
          </span>
          <PatternsText patterns={patterns} shown={20} />
        </>
      ) : (
        <Rich
          text="access.step.match"
          values={{ pattern: matched }}
          tags={{ code: (inside) => <code className="pattern">{inside}</code> }}
        />
      )}
    </StepLine>
  );
}

function Availability({ check: { deployments, reason } }: { readonly check: AccessCheck }) {
  // A model that the workspace may not call reveals nothing, not even that it exists.
  if (deployments === 0 && reason !== "no_deployment") return null;
  return (
    <StepLine mark={deployments === 0 ? "no" : "yes"} title={t("access.step.deployments")}>
      {t("access.step.deploymentCount", { count: deployments })}
    </StepLine>
  );
}

const marks = {
  yes: { icon: IconCircleCheck, word: t("access.yes"), tone: "good" },
  no: { icon: IconCircleX, word: t("access.no"), tone: "bad" },
  none: { icon: IconCircleMinus, word: t("access.step.neutral"), tone: undefined },
} as const;

interface StepLineProps {
  readonly mark: keyof typeof marks;
  readonly title: string;
  readonly children: ReactNode;
}

function StepLine({ mark, title, children }: StepLineProps) {
  const { icon: Icon, word, tone } = marks[mark];
  return (
    <li data-tone={tone}>
      <Icon size={18} stroke={1.6} aria-hidden className="access-step-mark" />
      <div>
        <Text size="sm" fw={500} className="break">
          <span className="unseen">{word}: </span>
          {upper(title)}
        </Text>
        <Text size="sm" component="div" c="dimmed">
          {children}
        </Text>
      </div>
    </li>
  );
}

function upper(words: string): string {
  return words.charAt(0).toUpperCase() + words.slice(1);
}
