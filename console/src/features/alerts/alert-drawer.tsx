import { Button, Group, Loader, Stack, Text } from "@mantine/core";
import type { AlertDelivery } from "@sluice/contract";
import { Link } from "@tanstack/react-router";
import { useCall } from "../../api/use-call.ts";
import { Drawer } from "../../components/drawer.tsx";
import { Facts } from "../../components/facts.tsx";
import { When } from "../../components/figures.tsx";
import { ProblemAlert } from "../../components/problem-alert.tsx";
import { StatusBadge } from "../../components/status-badge.tsx";
import { Rich, t } from "../../language/areas/alerts.ts";
import { linkOf } from "../../routes/search.ts";
import { alertProblemWords } from "./alert-problem-words.ts";
import { alertWords, toneOfAlert } from "./alert-words.ts";
import { ruleWords } from "./rule-draft.ts";

/** One alert, with the messages that were sent about it. */
export function AlertDrawer({ id, onClose }: { readonly id: string; readonly onClose: () => void }) {
  const { data: alert, error } = useCall("alerts.show", { params: { alert: id } });
  return (
    <Drawer opened onClose={onClose} title={t("alerts.list.alert")} size="lg">
      {error !== null && <ProblemAlert problem={error} />}
      {alert === undefined ? (
        error === null && <Loader size="sm" />
      ) : (
        <Stack gap="md">
          <Group gap="sm">
            <StatusBadge status={alert.state} tone={toneOfAlert(alert)} label={t(`alerts.state.${alert.state}`)} />
            <Button
              variant="default"
              size="compact-sm"
              renderRoot={(props) => <Link {...linkOf(alert.page)} {...props} />}
            >
              {t("alerts.list.fix")}
            </Button>
          </Group>
          <Text className="break">{alertWords(alert)}</Text>
          <Facts
            facts={[
              { name: t("alerts.list.rule"), value: ruleWords(alert.rule.name, alert.kind) },
              { name: t("alerts.workspace"), value: alert.workspace?.slug ?? t("alerts.installation") },
              { name: t("alerts.list.opened"), value: <When at={alert.opened_at} /> },
              { name: t("alerts.list.lastSeen"), value: <When at={alert.last_seen_at} /> },
              ...(alert.resolved_at === null
                ? []
                : [{ name: t("alerts.list.resolved"), value: <When at={alert.resolved_at} /> }]),
            ]}
          />
          <Text fw={600} component="h3" size="sm" m={0}>
            {t("alerts.detail.title")}
          </Text>
          {alert.deliveries.length === 0 ? (
            <Text size="sm" c="dimmed">
              {t("alerts.detail.none")}
            </Text>
          ) : (
            <Stack gap="xs" component="ul" className="plain-list">
              {alert.deliveries.map((delivery) => (
                <li key={`${delivery.channel.id} ${delivery.event} ${delivery.at}`}>
                  <Delivery delivery={delivery} />
                </li>
              ))}
            </Stack>
          )}
        </Stack>
      )}
    </Drawer>
  );
}

function Delivery({ delivery }: { readonly delivery: AlertDelivery }) {
  const { channel, event, sent_at: sentAt, next_at: nextAt, tries, problem, fault } = delivery;
  const isFailed = sentAt === null && nextAt === null;
  return (
    <div className="key-name">
      <span>
        <StatusBadge
          status={sentAt !== null ? "delivered" : isFailed ? "failed" : "waiting"}
          label={t(`alerts.detail.event.${event}`)}
        />{" "}
        <b>{channel.name}</b>{" "}
        {sentAt !== null ? (
          <Rich text="alerts.detail.sent" tags={{ when: () => <When at={sentAt} /> }} />
        ) : nextAt !== null ? (
          <Rich text="alerts.detail.next" tags={{ when: () => <When at={nextAt} /> }} />
        ) : (
          t("alerts.detail.failed")
        )}
      </span>
      {problem !== null && (
        <small className="break">
          {alertProblemWords(fault, problem)} {tries > 0 && t("alerts.detail.tries", { count: tries })}
        </small>
      )}
    </div>
  );
}
