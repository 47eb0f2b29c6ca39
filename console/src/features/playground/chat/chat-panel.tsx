import { Button, Group, Paper, Text, Title } from "@mantine/core";
import { useMemo, useRef } from "react";
import { Section } from "../../../components/section.tsx";
import { t } from "../../../language/areas/playground.ts";
import { readFields } from "../../media/more-fields.ts";
import type { ModelPanelProps } from "../model-panel-props.ts";
import { SameCallButton } from "../same-call/same-call-button.tsx";
import { useChatDraft, useChatSettings } from "./chat-state.ts";
import { ColumnView } from "./column-view.tsx";
import { Composer } from "./composer.tsx";
import {
  type ChatSettings,
  chatBody,
  isWritten,
  messagesOf,
  nothingWritten,
  type Turn,
  type UserInput,
  type Written,
} from "./conversation.ts";
import { SettingsPanel } from "./settings-panel.tsx";
import { ShareButton } from "./share-button.tsx";
import { sessionOf } from "./shared-chat.ts";
import { readTools } from "./tools.ts";
import { type Column, turnsMax, useChat } from "./use-chat.ts";
import { useLinkPrompt } from "./use-link-prompt.ts";

/** A chat with one model, or the same chat with several in columns, and its settings. */
export function ChatPanel({ call, model, others }: ModelPanelProps) {
  const { workspace } = call;
  const [settings, setSettings] = useChatSettings();
  const [draft, setDraft] = useChatDraft(workspace);
  useLinkPrompt(setDraft);
  const tools = useMemo(() => readTools(settings.tools), [settings.tools]);
  const more = useMemo(() => readFields(settings.more), [settings.more]);
  const read = useMemo(
    () => ({ tools: tools.problem === null ? tools.tools : [], more: more.problem === null ? more.fields : {} }),
    [tools, more],
  );
  const models = useMemo(() => [model, ...others], [model, others]);
  const chat = useChat(useMemo(() => ({ call, models, settings, ...read }), [call, models, settings, read]));
  const { columns } = chat;
  const turns = columns[0]?.turns ?? [];
  const compares = columns.length > 1;
  const input = useRef<HTMLTextAreaElement>(null);
  const wrong = tools.problem !== null || more.problem !== null;
  const full = columns.some((column) => column.turns.length >= turnsMax);
  const barred = wrong ? t("playground.chat.fixSettings") : full ? t("playground.chat.full") : null;

  const takeBack = (column: Column) => {
    column.takeBack();
    input.current?.focus();
  };
  const send = () => {
    chat.ask({ kind: "message", ...draft, text: draft.text.trim() });
    setDraft(nothingWritten);
  };
  const sameCall = () => ({
    path: "/v1/chat/completions",
    sdk: "chat" as const,
    body: chatBody(model, ...toShow(turns, draft, settings), read),
  });

  return (
    <div className="play-grid" data-compare={compares || undefined}>
      <Paper withBorder component="section" className="card chat" aria-labelledby="chat-title">
        <Group justify="space-between" gap="xs" className="chat-head">
          <Title order={2} id="chat-title" className="section-title">
            {t("playground.chat.title")}
          </Title>
          <Group gap={4}>
            <ShareButton workspace={workspace} make={() => sessionOf(models, settings, turns, draft)} />
            <SameCallButton make={sameCall} />
            <Button
              variant="subtle"
              size="compact-xs"
              disabled={columns.every((column) => column.turns.length === 0)}
              onClick={() => {
                chat.clear();
                input.current?.focus();
              }}
            >
              {t("playground.chat.new")}
            </Button>
          </Group>
        </Group>
        <div className="chat-columns">
          {columns.map((column, place) => (
            <ColumnView
              key={place === 0 ? "" : column.model}
              column={column}
              workspace={workspace}
              titled={compares}
              onEdit={takeBack}
            />
          ))}
        </div>
        {chat.restore !== null && (
          <RestoreBar
            onRestore={() => {
              chat.restore?.();
              input.current?.focus();
            }}
          />
        )}
        <Composer
          call={call}
          draft={draft}
          onDraft={setDraft}
          models={models}
          running={chat.running}
          barred={barred}
          input={input}
          onSend={send}
          onStop={chat.stop}
        />
      </Paper>
      <Section title={t("playground.settings.title")} description={t("playground.settings.help")}>
        <SettingsPanel
          value={settings}
          onChange={setSettings}
          toolsProblem={tools.problem}
          moreProblem={more.problem}
        />
      </Section>
    </div>
  );
}

/** Offers the conversation from before turns were removed. */
function RestoreBar({ onRestore }: { readonly onRestore: () => void }) {
  return (
    <Group justify="space-between" gap="xs" className="chat-before" role="status">
      <Text size="xs" c="dimmed">
        {t("playground.chat.before")}
      </Text>
      <Button variant="subtle" size="compact-xs" onClick={onRestore}>
        {t("playground.chat.restore")}
      </Button>
    </Group>
  );
}

/** The call that would be sent now, or without a message, the last one sent. */
function toShow(
  turns: readonly Turn[],
  draft: Written,
  settings: ChatSettings,
): [ReturnType<typeof messagesOf>, ChatSettings] {
  const last = turns.at(-1);
  const written: UserInput = { kind: "message", ...draft, text: draft.text.trim() };
  const nothing = !isWritten(written);
  if (nothing && last !== undefined) return [messagesOf(settings.system, turns.slice(0, -1), last.input), settings];
  return [
    messagesOf(settings.system, turns, nothing ? { ...written, text: t("playground.form.hello") } : written),
    settings,
  ];
}
