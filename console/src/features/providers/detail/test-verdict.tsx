import { Stack, Text } from "@mantine/core";
import type { TestAnswer } from "@sluice/contract";
import { IconCircleCheck, IconCircleX } from "@tabler/icons-react";
import { formatDuration } from "../../../client/format.ts";
import { t } from "../../../language/areas/providers.ts";
import { providers } from "../../../language/en/providers.ts";
import { remarks } from "../../../language/remark.ts";
import { useKinds } from "../../catalog/use-kinds.ts";

type Step = TestAnswer["steps"][number];

interface TestVerdictProps {
  /** Type of the provider. */
  readonly kind: string;
  readonly answer: TestAnswer;
}

/** The steps of a test with their results, and advice for failures. */
export function TestVerdict({ kind, answer }: TestVerdictProps) {
  return (
    <Stack gap="sm">
      <Text fw={500} size="sm">
        {answer.ok ? t("providers.test.works") : t("providers.test.fails")}
      </Text>
      <ol className="test-steps">
        {answer.steps.map((step) => (
          <li key={step.name} data-tone={step.ok ? "good" : "bad"}>
            <span className="test-mark">
              {step.ok ? <IconCircleCheck size={18} aria-hidden /> : <IconCircleX size={18} aria-hidden />}
            </span>
            <div className="grow">
              <div className="break">
                <span className="test-name">{triedWords(step.tried, step.name)}</span>{" "}
                <span className="aside">
                  {step.ok ? t("providers.test.succeeded") : t("providers.test.failed")}
                  {step.status === 0 ? "" : ` · ${t("providers.test.http", { status: String(step.status) })}`}
                  {step.ms > 0 && ` · ${formatDuration(step.ms)}`}
                </span>
              </div>
              {step.problem !== null && <StepProblem step={step} sentence={step.problem} />}
              {step.advice !== null && <StepAdvice kind={kind} step={step} sentence={step.advice} />}
            </div>
          </li>
        ))}
      </ol>
    </Stack>
  );
}

const triedWords = remarks(t, "providers.test.tried", providers.test.tried);
const problemWords = remarks(t, "providers.test.problem", providers.test.problem);
const adviceWords = remarks(t, "providers.test.advice", providers.test.advice);

/** The gateway's English sentence includes the provider message; translated texts show it separately. */
function StepProblem({ step, sentence }: { readonly step: Step; readonly sentence: string }) {
  const words = problemWords(step.fault, "");
  if (words === "") return <div className="break">{sentence}</div>;
  return (
    <div className="break">
      {words}
      {step.upstream_message !== null && <> {t("providers.test.message", { message: step.upstream_message })}</>}
    </div>
  );
}

/** For key problems, adds where to find keys of this provider type. */
function StepAdvice({
  kind,
  step,
  sentence,
}: {
  readonly kind: string;
  readonly step: Step;
  readonly sentence: string;
}) {
  const words = adviceWords(step.remedy, sentence);
  const help = useKinds(step.remedy?.code === "check_key").kindOf(kind)?.api_key_help ?? null;
  const shown = help === null || words === sentence || step.remedy?.code !== "check_key" ? words : `${words} ${help}`;
  return <div className="test-advice break">{shown}</div>;
}
