import { Button, Group, Text } from "@mantine/core";
import { memo } from "react";
import { CopyButton } from "../../../components/copy-button.tsx";
import { ProblemAlert } from "../../../components/problem-alert.tsx";
import { t } from "../../../language/areas/playground.ts";
import { CallFacts, RequestLink } from "../call-facts.tsx";
import { AnswerText } from "./answer-text.tsx";
import type { Turn, UserInput } from "./conversation.ts";
import { FileList } from "./file-list.tsx";
import { PictureList } from "./picture-list.tsx";
import { ToolCallView } from "./tool-call-view.tsx";

interface TurnViewProps {
  readonly turn: Turn;
  readonly workspace: string;
  /** Only for the last turn. */
  readonly onAgain: (() => void) | null;
  readonly onEdit: (() => void) | null;
}

export const TurnView = memo(function TurnView({ turn, workspace, onAgain, onEdit }: TurnViewProps) {
  const { reply, state, served } = turn;
  const running = state === "running";
  const waiting = running && reply.text === "" && reply.thinking === "" && reply.toolCalls.length === 0;
  return (
    <article className="turn" aria-busy={running}>
      <InputView asked={turn.input} />
      {reply.thinking !== "" && (
        <details className="thinking">
          <summary>
            {running && reply.text === "" ? t("playground.chat.thinking") : t("playground.chat.thought")}
          </summary>
          <div className="answer-words">{reply.thinking}</div>
        </details>
      )}
      {(waiting || reply.text !== "") && (
        <div className="answered" data-running={running || undefined}>
          <span className="unseen">{t("playground.chat.responded", { model: turn.model })}</span>
          <AnswerText text={reply.text} running={running} />
        </div>
      )}
      {reply.toolCalls.map((call) => (
        <ToolCallView key={call.id} call={call} />
      ))}
      {state === "stopped" && <Note>{t("playground.chat.stopped")}</Note>}
      {state === "done" && (
        <FinishNote finish={reply.finish} empty={reply.text === "" && reply.toolCalls.length === 0} />
      )}
      {turn.problem !== null && <ProblemAlert problem={turn.problem} />}
      {served === null && turn.problem?.requestId != null && (
        <div className="call-facts">
          <RequestLink workspace={workspace} requestId={turn.problem.requestId} />
        </div>
      )}
      {!running && served !== null && (
        <CallFacts workspace={workspace} info={served} {...served} totalMs={served.totalMs || null} />
      )}
      {!running && (
        <Group gap={4} className="turn-actions">
          {reply.text !== "" && <CopyButton value={reply.text} label={t("playground.chat.copy")} />}
          {onAgain !== null && (
            <Button size="compact-xs" variant="subtle" onClick={onAgain}>
              {state === "done" ? t("playground.chat.regenerate") : t("playground.run.retry")}
            </Button>
          )}
          {onEdit !== null && turn.input.kind === "message" && (
            <Button size="compact-xs" variant="subtle" onClick={onEdit}>
              {t("playground.chat.edit")}
            </Button>
          )}
          <span className="turn-model">{turn.model}</span>
        </Group>
      )}
    </article>
  );
});

function InputView({ asked: input }: { readonly asked: UserInput }) {
  if (input.kind === "results") {
    return (
      <div className="asked">
        <span className="asked-kind">{t("playground.tools.sentResults")}</span>
        {Object.entries(input.results).map(([id, result]) => (
          <div key={id}>{result}</div>
        ))}
      </div>
    );
  }
  return (
    <div className="asked">
      <span className="unseen">{t("playground.chat.you")}</span>
      {input.text}
      <PictureList pictures={input.pictures} />
      <FileList files={input.files} />
    </div>
  );
}

/** Explains why a response was cut or filtered, or that it is empty. */
function FinishNote({ finish, empty }: { readonly finish: string | null; readonly empty: boolean }) {
  if (finish === "length") return <Note>{t("playground.chat.cutByTokens")}</Note>;
  if (finish === "content_filter") return <Note>{t("playground.chat.filtered")}</Note>;
  return empty ? <Note>{t("playground.chat.nothing")}</Note> : null;
}

function Note({ children }: { readonly children: string }) {
  return (
    <Text size="xs" c="dimmed">
      {children}
    </Text>
  );
}
