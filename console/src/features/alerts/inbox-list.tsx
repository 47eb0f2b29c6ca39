import { Anchor, Button, Group, Text } from "@mantine/core";
import type { Alert } from "@sluice/contract";
import { Link } from "@tanstack/react-router";
import { useAct } from "../../api/use-act.ts";
import { When } from "../../components/figures.tsx";
import { StatusBadge } from "../../components/status-badge.tsx";
import { t } from "../../language/areas/shell.ts";
import { linkOf } from "../../routes/search.ts";
import { alertWords, toneOfAlert } from "./alert-words.ts";

interface InboxListProps {
  readonly alerts: readonly Alert[];
  readonly unread: number;
  readonly onClose: () => void;
}

/** The latest alerts, unread ones marked. Opening one marks it as read. */
export default function InboxList({ alerts, unread, onClose }: InboxListProps) {
  const read = useAct("inbox.read", { invalidates: ["inbox.show", "alerts.list"] });
  return (
    <div className="inbox">
      <Group justify="space-between" className="inbox-head">
        <Text fw={600} size="sm">
          {t("shell.inbox.title")}
        </Text>
        <Button
          variant="subtle"
          size="compact-xs"
          disabled={unread === 0}
          loading={read.isPending}
          onClick={() => read.mutate({ body: { alerts: null } })}
        >
          {t("shell.inbox.read")}
        </Button>
      </Group>
      {alerts.length === 0 ? (
        <Text size="sm" c="dimmed" p="sm">
          {t("shell.inbox.none")}
        </Text>
      ) : (
        <ul className="inbox-list">
          {alerts.map((alert) => (
            <li key={alert.id} data-unread={alert.unread || undefined}>
              <Link
                {...linkOf(alert.page)}
                onClick={() => {
                  if (alert.unread) read.mutate({ body: { alerts: [alert.id] } });
                  onClose();
                }}
              >
                <span className="inbox-words">{alertWords(alert)}</span>
                <small>
                  {alert.unread && <span className="unseen">{t("shell.inbox.unread")} </span>}
                  <StatusBadge
                    status={alert.state}
                    tone={toneOfAlert(alert)}
                    label={
                      alert.state === "resolved"
                        ? t("shell.inbox.resolved")
                        : (alert.workspace?.slug ?? t("shell.inbox.installation"))
                    }
                  />{" "}
                  <When at={alert.changed_at} />
                </small>
              </Link>
            </li>
          ))}
        </ul>
      )}
      <div className="inbox-foot">
        <Anchor size="sm" onClick={onClose} renderRoot={(props) => <Link to="/alerts" {...props} />}>
          {t("shell.inbox.all")}
        </Anchor>
      </div>
    </div>
  );
}
