import { Group, Stack, Text } from "@mantine/core";
import type { CaptureDetail, RequestDetail } from "@sluice/contract";
import { useMemo } from "react";
import { formatBytes } from "../../../client/format.ts";
import { CodeBlock } from "../../../components/code-block.tsx";
import { When } from "../../../components/figures.tsx";
import { Section } from "../../../components/section.tsx";
import { StatusBadge } from "../../../components/status-badge.tsx";
import { Rich, t } from "../../../language/areas/requests.ts";
import { useSession } from "../../../session/session-context.tsx";
import { KeyLink } from "../key-link.tsx";
import { CapturedText } from "./captured-answer.tsx";
import { capturedChat } from "./captured-chat.ts";
import { ChatView } from "./chat-view.tsx";
import { FoldedSection } from "./folded-section.tsx";

/** Captured headers and bodies, if enabled for the key. Only admins of the workspace can see them. */
export function CaptureSection({ detail }: { readonly detail: RequestDetail }) {
  const { may } = useSession();
  const { capture, workspace } = detail;
  if (!may("admin", workspace.id)) return null;
  // The gateway omits the field for users who may not see it.
  if (capture === null || capture === undefined) return <NothingCaptured detail={detail} />;
  return <Captured capture={capture} endpoint={detail.attempts.at(-1)?.endpoint ?? ""} />;
}

function NothingCaptured({ detail: { key, workspace } }: { readonly detail: RequestDetail }) {
  return (
    <Section title={t("requests.capture.title")}>
      <Text fz="sm" c="dimmed">
        <Rich
          text="requests.capture.none"
          tags={{
            link: (inside) => (
              <KeyLink id={key.id} workspace={workspace.slug} underlined>
                {inside}
              </KeyLink>
            ),
          }}
        />
      </Text>
    </Section>
  );
}

interface CapturedProps {
  readonly capture: CaptureDetail;
  readonly endpoint: string;
}

function Captured({ capture, endpoint }: CapturedProps) {
  const chat = useMemo(() => capturedChat(endpoint, capture), [endpoint, capture]);
  const expires = <Rich text="requests.capture.expires" tags={{ when: () => <When at={capture.expires_at} /> }} />;
  return (
    <>
      {chat !== null && (
        <Section title={t("requests.chat.title")} description={expires}>
          <ChatView chat={chat} />
        </Section>
      )}
      <FoldedSection
        title={t("requests.capture.request")}
        open={chat === null}
        description={chat === null ? expires : t("requests.chat.raw")}
      >
        <Stack gap="sm">
          <Headers headers={capture.request_headers} label={t("requests.capture.requestHeaders")} />
          <Body text={capture.request_body} bytes={capture.request_bytes} label={t("requests.capture.requestBody")} />
        </Stack>
      </FoldedSection>
      <FoldedSection
        title={t("requests.capture.response")}
        open={chat === null}
        {...(chat === null ? {} : { description: t("requests.chat.raw") })}
      >
        <Stack gap="sm">
          <Headers headers={capture.response_headers} label={t("requests.capture.responseHeaders")} />
          <Body
            text={capture.response_body}
            bytes={capture.response_bytes}
            label={t("requests.capture.responseBody")}
          />
        </Stack>
      </FoldedSection>
      {capture.truncated && (
        <Text fz="xs" c="dimmed">
          {t("requests.capture.truncatedNote")}
        </Text>
      )}
    </>
  );
}

interface HeadersProps {
  readonly headers: CaptureDetail["request_headers"];
  readonly label: string;
}

function Headers({ headers, label }: HeadersProps) {
  const code = headers.map(([name, value]) => `${name}: ${value}`).join("\n");
  return code === "" ? (
    <Dimmed>{t("requests.capture.noHeaders")}</Dimmed>
  ) : (
    <CodeBlock code={code} label={label} wrap maxHeight="16rem" />
  );
}

interface BodyProps {
  readonly text: string | null;
  readonly bytes: number | null;
  readonly label: string;
}

function Body({ text, bytes, label }: BodyProps) {
  if (text === null) return <Dimmed>{t("requests.capture.noBody")}</Dimmed>;
  const cut = bytes !== null && new TextEncoder().encode(text).length < bytes;
  return (
    <div>
      <Group gap="xs" mb={4}>
        <Text fz="xs" c="dimmed">
          {bytes === null ? label : t("requests.capture.size", { label, size: formatBytes(bytes) })}
        </Text>
        {cut && (
          <StatusBadge
            status="truncated"
            tone="warn"
            label={t("requests.capture.truncated")}
            hint={t("requests.capture.truncatedHelp")}
          />
        )}
      </Group>
      {text === "" ? <Dimmed>{t("requests.capture.empty")}</Dimmed> : <CapturedText text={text} label={label} />}
    </div>
  );
}

function Dimmed({ children }: { readonly children: string }) {
  return (
    <Text fz="sm" c="dimmed">
      {children}
    </Text>
  );
}
