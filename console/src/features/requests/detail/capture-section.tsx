import { Anchor, Group, Stack, Text } from "@mantine/core";
import type { CaptureDetail, RequestDetail } from "@sluice/contract";
import { Link } from "@tanstack/react-router";
import { CodeBlock } from "../../../components/code-block.tsx";
import { Bytes, When } from "../../../components/figures.tsx";
import { JsonView } from "../../../components/json-view.tsx";
import { Section } from "../../../components/section.tsx";
import { StatusBadge } from "../../../components/status-badge.tsx";
import { t } from "../../../language/areas/requests.ts";
import { useSession } from "../../../session/session-context.tsx";
import { jsonOf } from "./json-text.ts";

/** Headers and bodies, if the key has them kept. The gateway shows them to admins of the workspace only. */
export function CaptureSection({ detail }: { readonly detail: RequestDetail }) {
  const { may } = useSession();
  const { capture, workspace, key } = detail;
  if (!may("admin", workspace.id)) return null;
  // The field is left out for whoever may not see it.
  if (capture === null || capture === undefined) {
    return (
      <Section title={t("requests.headersAndBodies")}>
        <Text fz="sm" c="dimmed">
          Nothing of this request was kept, or it is gone by now. A key keeps headers, or bodies too, once{" "}
          <Anchor
            fz="inherit"
            underline="always"
            renderRoot={(props) => (
              <Link to="/keys/$key" params={{ key: key.id }} search={{ workspace: workspace.slug }} {...props} />
            )}
          >
            {t("requests.itsSettings")}
          </Anchor>{" "}
          say so.
        </Text>
      </Section>
    );
  }
  return <Captured capture={capture} />;
}

function Captured({ capture }: { readonly capture: CaptureDetail }) {
  return (
    <>
      <Section
        title={t("requests.whatTheCallerSent")}
        description={
          <>
            {t("requests.secretsWereTakenOutBefore")} <When at={capture.expires_at} />.
          </>
        }
      >
        <Stack gap="sm">
          <Headers headers={capture.request_headers} label={t("requests.requestHeaders")} />
          <Body text={capture.request_body} bytes={capture.request_bytes} label={t("requests.requestBody")} />
        </Stack>
      </Section>
      <Section title={t("requests.whatTheCallerGot")}>
        <Stack gap="sm">
          <Headers headers={capture.response_headers} label={t("requests.answerHeaders")} />
          <Body text={capture.response_body} bytes={capture.response_bytes} label={t("requests.answerBody")} />
        </Stack>
      </Section>
      {capture.truncated && (
        <Text fz="xs" c="dimmed">
          {t("requests.aBodyWasLongerThan")}
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
  if (headers.length === 0) {
    return (
      <Text fz="sm" c="dimmed">
        {t("requests.no2", { label })}
      </Text>
    );
  }
  return (
    <CodeBlock
      code={headers.map(([name, value]) => `${name}: ${value}`).join("\n")}
      label={label}
      wrap
      maxHeight="16rem"
    />
  );
}

interface BodyProps {
  readonly text: string | null;
  readonly bytes: number | null;
  readonly label: string;
}

function Body({ text, bytes, label }: BodyProps) {
  if (text === null) {
    return (
      <Text fz="sm" c="dimmed">
        {t("requests.theWasNotKeptThe", { label })}
      </Text>
    );
  }
  const json = jsonOf(text);
  const cut = bytes !== null && new TextEncoder().encode(text).length < bytes;
  return (
    <div>
      <Group gap="xs" mb={4}>
        <Text fz="xs" c="dimmed">
          {label.charAt(0).toUpperCase() + label.slice(1)}, <Bytes value={bytes} />
        </Text>
        {cut && <StatusBadge status="shortened" tone="warn" hint={t("requests.onlyTheBeginningIsKept")} />}
      </Group>
      {text === "" ? (
        <Text fz="sm" c="dimmed">
          {t("requests.empty")}
        </Text>
      ) : json === undefined ? (
        <CodeBlock code={text} label={label} wrap maxHeight="28rem" />
      ) : (
        <JsonView value={json} label={label} open={5} />
      )}
    </div>
  );
}
