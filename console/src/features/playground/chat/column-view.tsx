import { Text, Title } from "@mantine/core";
import { useEffect, useRef } from "react";
import { t } from "../../../language/areas/playground.ts";
import { openCalls } from "./conversation.ts";
import { ToolResults } from "./tool-results.tsx";
import { TurnView } from "./turn-view.tsx";
import type { Column } from "./use-chat.ts";

interface ColumnViewProps {
  readonly column: Column;
  readonly workspace: string;
  /** Shows the name of the model, because several are compared. */
  readonly titled: boolean;
  readonly onEdit: (column: Column) => void;
}

/** The conversation with one model. It follows the end while the user is there. */
export function ColumnView({ column, workspace, titled, onEdit }: ColumnViewProps) {
  const { model, turns } = column;
  const box = useRef<HTMLDivElement>(null);
  const atEnd = useRef(true);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a change of turns is what moves the view.
  useEffect(() => {
    const view = box.current;
    if (view !== null && atEnd.current) view.scrollTop = view.scrollHeight;
  }, [turns]);
  const last = turns.at(-1);
  const open = openCalls(last);
  return (
    <div className="chat-column">
      {titled && (
        <Title order={3} className="chat-column-title">
          {model}
        </Title>
      )}
      <section
        ref={box}
        className="turns"
        aria-label={titled ? t("playground.compare.messages", { model }) : t("playground.chat.messages")}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard.
        tabIndex={0}
        onScroll={(event) => {
          const view = event.currentTarget;
          atEnd.current = view.scrollHeight - view.scrollTop - view.clientHeight < 48;
        }}
      >
        {turns.length === 0 && (
          <Text c="dimmed" size="sm" ta="center" className="turns-empty">
            {t("playground.chat.empty")}
          </Text>
        )}
        {turns.map((turn) => (
          <TurnView
            key={turn.id}
            turn={turn}
            workspace={workspace}
            onAgain={turn === last ? column.again : null}
            onEdit={turn === last ? () => onEdit(column) : null}
          />
        ))}
        {open.length > 0 && (
          <ToolResults key={last?.id} calls={open} onSend={(results) => column.ask({ kind: "results", results })} />
        )}
        <div className="unseen" aria-live="polite">
          {last?.state === "done" ? t("playground.chat.responseIs", { text: last.reply.text }) : null}
        </div>
      </section>
    </div>
  );
}
