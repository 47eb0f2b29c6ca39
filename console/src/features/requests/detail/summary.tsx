import { Stack, Text } from "@mantine/core";
import type { RequestDetail } from "@sluice/contract";
import { formatCount } from "../../../client/format.ts";
import { Duration, Money, Nothing } from "../../../components/figures.tsx";
import { Section } from "../../../components/section.tsx";
import { Stat, Stats } from "../../../components/stat.tsx";
import { t } from "../../../language/areas/requests.ts";
import { durationOf, groupRequests } from "../request-group.ts";
import { summaryOf } from "./summary-text.ts";

/** The request in a few sentences and five figures. */
export function Summary({ detail }: { readonly detail: RequestDetail }) {
  const { attempts } = detail;
  const last = attempts.at(-1);
  const [whole] = groupRequests(attempts);
  return (
    <>
      <Section title={t("requests.summary.title")}>
        <Stack gap={6}>
          {summaryOf(detail).map((sentence) => (
            <Text key={sentence} className="break" fz="sm">
              {sentence}
            </Text>
          ))}
        </Stack>
      </Section>
      {last !== undefined && whole !== undefined && last.outcome !== "rejected" && (
        <Stats label={t("requests.summary.figures")}>
          <Stat
            label={t("requests.metrics.duration")}
            value={<Duration ms={durationOf(whole)} />}
            hint={t("requests.metrics.attempts", { count: attempts.length })}
          />
          <Stat
            label={t("requests.metrics.firstToken")}
            value={<Duration ms={whole.firstTokenMs} />}
            hint={t("requests.metrics.firstTokenHelp")}
          />
          <Stat
            label={t("requests.metrics.overhead")}
            value={<Duration ms={last.overhead_ms} />}
            hint={t("requests.metrics.overheadHelp")}
          />
          <Stat
            label={t("requests.metrics.tokens")}
            value={<Tokens input={whole.inputTokens} output={whole.outputTokens} />}
          />
          {whole.heldUsd === null ? (
            <Stat label={t("requests.metrics.cost")} value={<Money usd={whole.costUsd} />} />
          ) : (
            <Stat
              label={t("requests.metrics.held")}
              value={<Money usd={whole.heldUsd} />}
              hint={t("requests.columns.heldHelp")}
            />
          )}
        </Stats>
      )}
    </>
  );
}

function Tokens({ input, output }: { readonly input: number; readonly output: number }) {
  if (input === 0 && output === 0) return <Nothing word={t("requests.columns.noTokens")} />;
  return `${formatCount(input)} / ${formatCount(output)}`;
}
