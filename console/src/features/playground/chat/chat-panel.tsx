import { Button, Group, Paper, Text, Title } from "@mantine/core";
import { useCallback, useEffect, useMemo, useRef } from "react";
import { Section } from "../../../components/section.tsx";
import { t } from "../../../language/areas/playground.ts";
import type { KeyCall } from "../../media/key-call.ts";
import { readFields } from "../../media/more-fields.ts";
import { SameCallButton } from "../same-call/same-call-button.tsx";
import { useChatDraft, useChatSettings } from "./chat-state.ts";
import { Composer, type Draft } from "./composer.tsx";
import { type ChatSettings, chatBody, messagesOf, openCalls, type UserInput } from "./conversation.ts";
import { SettingsPanel } from "./settings-panel.tsx";
import { ShareButton } from "./share-button.tsx";
import { sessionOf } from "./shared-chat.ts";
import { ToolResults } from "./tool-results.tsx";
import { readTools } from "./tools.ts";
import { TurnView } from "./turn-view.tsx";
import { type Chat, turnsMax, useChat } from "./use-chat.ts";
import { useLinkPrompt } from "./use-link-prompt.ts";

const noDraft: Draft = { text: "", pictures: [] };

/** A chat with one model, and its settings. */
export function ChatPanel({ call, model }: { readonly call: KeyCall; readonly model: string }) {
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
  const chat = useChat(useMemo(() => ({ call, model, settings, ...read }), [call, model, settings, read]));
  const input = useRef<HTMLTextAreaElement>(null);
  const wrong = tools.problem !== null || more.problem !== null;
  const full = chat.turns.length >= turnsMax;
  const barred = wrong ? t("playground.chat.fixSettings") : full ? t("playground.chat.full") : null;

  const takeBack = useCallback(() => {
    chat.takeBack();
    input.current?.focus();
  }, [chat]);
  const send = () => {
    chat.ask({ kind: "message", text: draft.text.trim(), pictures: draft.pictures });
    setDraft(noDraft);
  };
  const sameCall = () => ({
    path: "/v1/chat/completions",
    sdk: "chat" as const,
    body: chatBody(model, ...toShow(chat, draft, settings), read),
  });

  return (
    <div className="play-grid">
      <Paper withBorder component="section" className="card chat" aria-labelledby="chat-title">
        <Group justify="space-between" gap="xs" className="chat-head">
          <Title order={2} id="chat-title" className="section-title">
            {t("playground.chat.title")}
          </Title>
          <Group gap={4}>
            <ShareButton workspace={workspace} make={() => sessionOf(model, settings, chat.turns, draft)} />
            <SameCallButton make={sameCall} />
            <Button
              variant="subtle"
              size="compact-xs"
              disabled={chat.turns.length === 0}
              onClick={() => {
                chat.clear();
                input.current?.focus();
              }}
            >
              {t("playground.chat.new")}
            </Button>
          </Group>
        </Group>
        <Turns chat={chat} workspace={workspace} onEdit={takeBack} />
        {chat.restore !== null && (
          <Group justify="space-between" gap="xs" className="chat-before" role="status">
            <Text size="xs" c="dimmed">
              {t("playground.chat.before")}
            </Text>
            <Button
              variant="subtle"
              size="compact-xs"
              onClick={() => {
                chat.restore?.();
                input.current?.focus();
              }}
            >
              {t("playground.chat.restore")}
            </Button>
          </Group>
        )}
        <Composer
          draft={draft}
          onDraft={setDraft}
          model={model}
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

/** The call that would be sent now, or without a message, the last one sent. */
function toShow(chat: Chat, draft: Draft, settings: ChatSettings): [ReturnType<typeof messagesOf>, ChatSettings] {
  const last = chat.turns.at(-1);
  const written: UserInput = { kind: "message", text: draft.text.trim(), pictures: draft.pictures };
  const nothing = written.text === "" && written.pictures.length === 0;
  if (nothing && last !== undefined)
    return [messagesOf(settings.system, chat.turns.slice(0, -1), last.input), settings];
  return [
    messagesOf(settings.system, chat.turns, nothing ? { ...written, text: t("playground.form.hello") } : written),
    settings,
  ];
}

interface TurnsProps {
  readonly chat: Chat;
  readonly workspace: string;
  readonly onEdit: () => void;
}

function Turns({ chat, workspace, onEdit }: TurnsProps) {
  const box = useRef<HTMLDivElement>(null);
  const atEnd = useRef(true);
  const { turns } = chat;
  // biome-ignore lint/correctness/useExhaustiveDependencies: a change of turns is what moves the view.
  useEffect(() => {
    const view = box.current;
    if (view !== null && atEnd.current) view.scrollTop = view.scrollHeight;
  }, [turns]);
  const last = turns.at(-1);
  const open = openCalls(last);
  return (
    <section
      ref={box}
      className="turns"
      aria-label={t("playground.chat.messages")}
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
          onAgain={turn === last ? chat.again : null}
          onEdit={turn === last ? onEdit : null}
        />
      ))}
      {open.length > 0 && (
        <ToolResults key={last?.id} calls={open} onSend={(results) => chat.ask({ kind: "results", results })} />
      )}
      <div className="unseen" aria-live="polite">
        {last?.state === "done" ? t("playground.chat.responseIs", { text: last.reply.text }) : null}
      </div>
    </section>
  );
}
