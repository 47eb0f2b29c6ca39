import { Button, Code, CopyButton, Group, Text } from "@mantine/core";
import { formatCount, formatMs } from "../client/format.ts";
import { ProblemAlert } from "../parts/problem-alert.tsx";
import type { Served } from "./chat-call.ts";
import { curlOf } from "./curl.ts";
import type { Turn } from "./use-chat.ts";

export function TurnView({ turn }: { readonly turn: Turn }) {
  const waiting = turn.state === "running" && turn.answer === "";
  return (
    <article className="turn" aria-busy={turn.state === "running"}>
      <div className="asked">
        <span className="unseen">You asked: </span>
        {turn.question}
      </div>
      {(waiting || turn.answer !== "") && (
        <div className="answered" data-running={turn.state === "running" ? true : undefined}>
          <span className="unseen">{turn.model} answered: </span>
          {turn.answer}
        </div>
      )}
      {turn.state === "stopped" && (
        <Text size="xs" c="dimmed">
          You stopped this answer; the upstream was told to stop as well.
        </Text>
      )}
      {turn.problem !== null && <ProblemAlert problem={turn.problem} />}
      {turn.served !== null && <ServedBy served={turn.served} />}
      {turn.state !== "running" && <Curl turn={turn} />}
    </article>
  );
}

/** Only what is known is said; an upstream may leave out its usage. */
function ServedBy({ served }: { readonly served: Served }) {
  const facts: [string, string][] = [];
  if (served.provider !== null) facts.push(["served by", served.provider]);
  if (served.deployment !== null) facts.push(["deployment", served.deployment]);
  if (served.attempts !== null && served.attempts > 1) facts.push(["attempts", formatCount(served.attempts)]);
  if (served.firstTokenMs !== null) facts.push(["first word", formatMs(served.firstTokenMs)]);
  facts.push(["whole answer", formatMs(served.totalMs)]);
  if (served.overheadMs !== null) facts.push(["of it Sluice", formatMs(served.overheadMs)]);
  if (served.inputTokens !== null) facts.push(["tokens in", formatCount(served.inputTokens)]);
  if (served.outputTokens !== null) facts.push(["tokens out", formatCount(served.outputTokens)]);
  return (
    <dl className="facts">
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

function Curl({ turn }: { readonly turn: Turn }) {
  const line = curlOf(location.origin, turn.model, turn.sent);
  return (
    <details className="curl">
      <summary>The same call as curl</summary>
      <Code block>{line}</Code>
      <Group gap="xs" mt="xs">
        <CopyButton value={line}>
          {({ copied, copy }) => (
            <Button size="compact-xs" variant="default" onClick={copy}>
              {copied ? "Copied" : "Copy"}
            </Button>
          )}
        </CopyButton>
        {turn.served?.requestId != null && (
          <Text size="xs" c="dimmed" className="break">
            request {turn.served.requestId}
          </Text>
        )}
      </Group>
    </details>
  );
}
