import { Button, Group, NativeSelect, Paper, Stack, Text, Textarea, Title } from "@mantine/core";
import { type FormEvent, type KeyboardEvent, useEffect, useRef, useState } from "react";
import { TurnView } from "./turn-view.tsx";
import { type Chat, useChat } from "./use-chat.ts";

interface ChatBoxProps {
  readonly apiKey: string;
  readonly model: string | null;
  readonly models: readonly string[];
  readonly onModel: (model: string) => void;
  readonly onAnswer: () => void;
}

/** A chat with one model: enough to see that a key works, who served, how fast, and the same call as curl. */
export function ChatBox({ apiKey, model, models, onModel, onAnswer }: ChatBoxProps) {
  const chat = useChat(apiKey, onAnswer);
  return (
    <Paper withBorder p="md" className="card chat" component="section" aria-labelledby="chat-title">
      <Group justify="space-between" gap="sm">
        <Title order={2} size="h4" id="chat-title">
          Chat
        </Title>
        <Group gap="xs" className="chat-tools">
          <NativeSelect
            aria-label="Model"
            size="xs"
            data={model === null ? ["no chat model"] : [...models]}
            value={model ?? "no chat model"}
            disabled={model === null}
            onChange={(event) => onModel(event.currentTarget.value)}
          />
          <Button size="xs" variant="default" disabled={chat.turns.length === 0} onClick={chat.clear}>
            New chat
          </Button>
        </Group>
      </Group>
      <Turns chat={chat} />
      <Question chat={chat} model={model} />
    </Paper>
  );
}

function Turns({ chat }: { readonly chat: Chat }) {
  const box = useRef<HTMLDivElement>(null);
  const atEnd = useRef(true);
  const { turns } = chat;
  // biome-ignore lint/correctness/useExhaustiveDependencies: a change of turns is what moves the view.
  useEffect(() => {
    const view = box.current;
    if (view !== null && atEnd.current) view.scrollTop = view.scrollHeight;
  }, [turns]);
  const last = turns.at(-1);
  return (
    <section
      ref={box}
      className="turns"
      aria-label="Conversation"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard.
      tabIndex={0}
      onScroll={(event) => {
        const view = event.currentTarget;
        atEnd.current = view.scrollHeight - view.scrollTop - view.clientHeight < 48;
      }}
    >
      {turns.length === 0 && (
        <Text c="dimmed" size="sm" ta="center" className="empty">
          Ask something. The answer streams in here, with who served it and what it took.
        </Text>
      )}
      <Stack gap="lg">
        {turns.map((turn) => (
          <TurnView key={turn.id} turn={turn} />
        ))}
      </Stack>
      <div className="unseen" aria-live="polite">
        {last?.state === "done" ? `Answer: ${last.answer}` : null}
      </div>
    </section>
  );
}

function Question({ chat, model }: { readonly chat: Chat; readonly model: string | null }) {
  const [text, setText] = useState("");
  const ready = model !== null && text.trim() !== "" && !chat.running;

  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!ready || model === null) return;
    chat.ask(model, text.trim());
    setText("");
  };
  const onKeyDown = (event: KeyboardEvent<HTMLTextAreaElement>) => {
    // While an input method composes a word, Enter belongs to it.
    if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return;
    submit(event);
  };

  return (
    <form onSubmit={submit} className="question">
      <Textarea
        aria-label="Message"
        aria-describedby="question-hint"
        placeholder={model === null ? "This key may use no chat model." : `Message ${model}`}
        autosize
        minRows={2}
        maxRows={8}
        disabled={model === null}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
        onKeyDown={onKeyDown}
      />
      <Group justify="space-between" gap="xs">
        <Text size="xs" c="dimmed" id="question-hint">
          Enter sends, Shift+Enter makes a new line.
        </Text>
        {chat.running ? (
          <Button type="button" variant="default" onClick={chat.stop}>
            Stop
          </Button>
        ) : (
          <Button type="submit" disabled={!ready}>
            Send
          </Button>
        )}
      </Group>
    </form>
  );
}
