import { Button } from "@mantine/core";
import { IconFile, IconPhoto, IconTool } from "@tabler/icons-react";
import { type ReactNode, useState } from "react";
import { CodeBlock } from "../../../components/code-block.tsx";
import { t } from "../../../language/areas/requests.ts";
import type { ChatMessage } from "../../playground/chat/read-messages.ts";
import { argumentsText, type ToolCall } from "../../playground/chat/reply.ts";
import type { AssembledAnswer } from "./assembled-answer.ts";
import type { CapturedChat } from "./captured-chat.ts";

/** Agents send hundreds of earlier messages with each request. */
const shownMax = 12;
const charactersMax = 1_200;

/** A captured conversation as messages. Everything is shown as text: nothing is rendered as HTML, and no picture is loaded. */
export function ChatView({ chat: { messages, cut, answer } }: { readonly chat: CapturedChat }) {
  const [all, setAll] = useState(false);
  const hidden = all ? 0 : Math.max(0, messages.length - shownMax);
  return (
    <div className="chat-view">
      {hidden > 0 && (
        <Button variant="default" size="compact-sm" onClick={() => setAll(true)}>
          {t("requests.chat.earlier", { count: hidden })}
        </Button>
      )}
      <ol aria-label={t("requests.chat.label")}>
        {messages.slice(hidden).map((message, place) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: messages have no ids and never change.
          <Message key={hidden + place} by={message.by} note={message.by === "tool" ? message.id : ""}>
            <Content message={message} />
          </Message>
        ))}
        {cut && (
          <li>
            <Note>{t("requests.chat.cut")}</Note>
          </li>
        )}
        {answer !== null && (
          <Message by="answer" note={answer.finish ?? ""}>
            <Answer answer={answer} />
          </Message>
        )}
      </ol>
    </div>
  );
}

const roles = {
  system: t("requests.chat.system"),
  user: t("requests.chat.user"),
  model: t("requests.chat.model"),
  tool: t("requests.chat.tool"),
  answer: t("requests.chat.answer"),
} as const;

interface MessageProps {
  readonly by: keyof typeof roles;
  /** The call of a tool result, or the finish reason of the answer. */
  readonly note: string;
  readonly children: ReactNode;
}

function Message({ by, note, children }: MessageProps) {
  return (
    <li className="chat-message" data-by={by}>
      <div className="chat-role">
        {roles[by]}
        {note !== "" && <span className="aside break">{note}</span>}
      </div>
      <div>{children}</div>
    </li>
  );
}

function Content({ message }: { readonly message: ChatMessage }) {
  return (
    <>
      <Words text={message.text} />
      {message.by === "user" &&
        message.pictures.map((address, place) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: pictures never change, and two may be the same.
          <div key={place} className="chat-picture">
            <IconPhoto size={14} aria-hidden />
            <span className="break">{address.startsWith("data:") ? t("requests.chat.picture") : address}</span>
          </div>
        ))}
      {message.by === "user" &&
        message.files.map(({ id }) => (
          <div key={id} className="chat-picture">
            <IconFile size={14} aria-hidden />
            <span className="break">{id}</span>
          </div>
        ))}
      {message.by === "model" && <Calls calls={message.calls} />}
    </>
  );
}

function Answer({ answer: { text, thinking, toolCalls, error, whole } }: { readonly answer: AssembledAnswer }) {
  const empty = text === "" && thinking === "" && toolCalls.length === 0;
  return (
    <>
      {thinking !== "" && (
        <details>
          <summary className="chat-note">{t("requests.capture.thinking")}</summary>
          <Words text={thinking} />
        </details>
      )}
      <Words text={text} />
      <Calls calls={toolCalls} />
      {empty && error === null && <Note>{t("requests.capture.nothing")}</Note>}
      {error !== null && <Note>{t("requests.chat.error", { message: error })}</Note>}
      {!whole && <Note>{t("requests.capture.cut")}</Note>}
    </>
  );
}

function Calls({ calls }: { readonly calls: readonly ToolCall[] }) {
  return calls.map((call) => (
    <div key={`${call.index} ${call.id}`}>
      <div className="chat-picture">
        <IconTool size={14} aria-hidden />
        <span className="break">{t("requests.capture.toolCall", { name: call.name })}</span>
      </div>
      <CodeBlock
        code={argumentsText(call)}
        label={t("requests.capture.toolCall", { name: call.name })}
        wrap
        maxHeight="12rem"
      />
    </div>
  ));
}

/** The beginning of a long text, and the rest with a click. */
function Words({ text }: { readonly text: string }) {
  const [all, setAll] = useState(false);
  if (text === "") return null;
  if (all || text.length <= charactersMax) return <p className="chat-words">{text}</p>;
  return (
    <>
      <p className="chat-words">{text.slice(0, charactersMax)}…</p>
      <Button variant="subtle" size="compact-xs" onClick={() => setAll(true)}>
        {t("requests.chat.more", { count: text.length - charactersMax })}
      </Button>
    </>
  );
}

function Note({ children }: { readonly children: string }) {
  return <p className="chat-note">{children}</p>;
}
