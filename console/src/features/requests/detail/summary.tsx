import { Stack, Text } from "@mantine/core";
import type { AttemptDetail, RequestDetail } from "@sluice/contract";
import { formatCount } from "../../../client/format.ts";
import { Duration, Money, Nothing } from "../../../components/figures.tsx";
import { Section } from "../../../components/section.tsx";
import { Stat, Stats } from "../../../components/stat.tsx";
import { groupRequests } from "../request-group.ts";
import { summaryOf } from "./summary-text.ts";

/** The request in a few sentences, and in five figures. */
export function Summary({ detail }: { readonly detail: RequestDetail }) {
  const { attempts } = detail;
  const last = attempts.at(-1);
  const [whole] = groupRequests(attempts);
  return (
    <>
      <Section title="What happened">
        <Stack gap={6}>
          {summaryOf(detail).map((sentence) => (
            <Text key={sentence} className="break" fz="sm">
              {sentence}
            </Text>
          ))}
        </Stack>
      </Section>
      {last !== undefined && whole !== undefined && last.outcome !== "rejected" && (
        <Stats label="The request in figures">
          <Stat label="Duration" value={<Duration ms={whole.totalMs} />} hint={attemptsOf(attempts.length)} />
          <Stat label="First token" value={<Duration ms={sinceArrival(last)} />} hint="from the call's arrival" />
          <Stat label="Gateway's own work" value={<Duration ms={last.overhead_ms} />} hint="until the answer began" />
          <Stat label="Tokens in / out" value={<Tokens input={whole.inputTokens} output={whole.outputTokens} />} />
          <Stat label="Cost" value={<Money usd={whole.costUsd} />} />
        </Stats>
      )}
    </>
  );
}

/** What the caller waited, earlier attempts and pauses between them included. */
function sinceArrival({ started_after_ms: before, first_token_ms: token }: AttemptDetail): number | null {
  return token === null ? null : (before ?? 0) + token;
}

function attemptsOf(count: number): string {
  return count === 1 ? "one attempt" : `${count} attempts`;
}

function Tokens({ input, output }: { readonly input: number; readonly output: number }) {
  if (input === 0 && output === 0) return <Nothing word="no tokens" />;
  return `${formatCount(input)} / ${formatCount(output)}`;
}
