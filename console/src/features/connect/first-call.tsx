import { Alert, Anchor, Group, Text } from "@mantine/core";
import { IconAlertTriangle, IconCircleCheck } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { useCall } from "../../api/use-call.ts";
import { t } from "../../language/areas/connect.ts";

const everyMs = 2_000;
/** Also covers a browser with another clock. */
const searchedMs = 3_600_000;

interface FirstCallProps {
  readonly slug: string;
  /** Calls with this key, or without a key. */
  readonly by: { readonly key: string } | { readonly person: string };
  /** The key was just created: every call with it counts. Else only later calls count. */
  readonly isNew: boolean;
}

/** Waits for the first call of the connected tool, and links to it. */
export function FirstCall({ slug, by, isNew }: FirstCallProps) {
  const [from] = useState(() => Date.now() - searchedMs);
  const [before, setBefore] = useState<string | null>(isNew ? "" : null);
  const [found, setFound] = useState(false);
  const query = { ...by, from, limit: 1 };
  const { data } = useCall("requests.list", {
    params: { workspace: slug },
    query,
    everyMs: found ? false : everyMs,
    staleMs: 0,
  });
  const last = data?.data[0];
  if (data !== undefined && before === null) setBefore(last?.attempt_id ?? "");
  const call = before !== null && last !== undefined && last.attempt_id !== before ? last : null;
  if (call !== null && !found) setFound(true);
  if (call === null) {
    return (
      <Group gap="xs" role="status">
        <span className="waiting-dot" aria-hidden />
        <Text size="sm" c="dimmed">
          {t("connect.first.waiting")}
        </Text>
      </Group>
    );
  }
  const ok = call.outcome === "succeeded";
  return (
    <Alert
      role="status"
      variant="light"
      color={ok ? "teal" : "yellow"}
      icon={ok ? <IconCircleCheck size={20} /> : <IconAlertTriangle size={20} />}
      title={ok ? t("connect.first.done") : t("connect.first.failed")}
    >
      <Anchor
        size="sm"
        renderRoot={(props) => (
          <Link to="/requests/$request" params={{ request: call.request_id }} search={{ workspace: slug }} {...props} />
        )}
      >
        {t("connect.first.open", { model: call.model || call.requested_model })}
      </Anchor>
    </Alert>
  );
}
