import { Button, Group, Text } from "@mantine/core";
import type { RequestDetail } from "@sluice/contract";
import { IconChevronLeft, IconChevronRight } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { useCall } from "../../../api/use-call.ts";
import { Money, Share } from "../../../components/figures.tsx";
import { Section } from "../../../components/section.tsx";
import { t } from "../../../language/areas/sessions.ts";
import { agentText, InferredBadge, sessionLink } from "../../sessions/session-words.tsx";

/** The session of a request, with links to the requests before and after it. Renders nothing without a session. */
export function SessionCard({ detail }: { readonly detail: RequestDetail }) {
  const params = { workspace: detail.workspace.slug, request: detail.request_id };
  const { data } = useCall("requests.session", { params });
  if (data === undefined || data.session === null) return null;
  const { session, position, previous, next } = data;
  const { requests: count } = session;
  return (
    <Section
      title={t("sessions.card.title")}
      actions={
        <>
          <Neighbor of={previous} icon={<IconChevronLeft size={16} aria-hidden />}>
            {t("sessions.card.previous")}
          </Neighbor>
          <Neighbor of={next} icon={<IconChevronRight size={16} aria-hidden />} after>
            {t("sessions.card.next")}
          </Neighbor>
          <Button size="xs" variant="default" renderRoot={(props) => <Link {...sessionLink(session)} {...props} />}>
            {t("sessions.card.open")}
          </Button>
        </>
      }
    >
      <Group gap="xs">
        <Text fz="sm" fw={500}>
          {agentText(session)}
        </Text>
        <InferredBadge source={session.source} />
        <Text fz="sm" c="dimmed">
          {position === null ? t("sessions.card.count", { count }) : t("sessions.card.position", { position, count })}
          {" · "}
          <Money usd={session.cost_usd} />
          {" · "}
          {t("sessions.columns.cacheReads")} <Share share={session.cache_read_share} />
        </Text>
      </Group>
    </Section>
  );
}

interface NeighborProps {
  readonly of: { readonly request_id: string } | null;
  readonly icon: ReactNode;
  readonly after?: boolean;
  readonly children: ReactNode;
}

function Neighbor({ of, icon, after = false, children }: NeighborProps) {
  const section = after ? { rightSection: icon } : { leftSection: icon };
  if (of === null) {
    return (
      <Button size="xs" variant="default" disabled {...section}>
        {children}
      </Button>
    );
  }
  const link = { to: "/requests/$request", params: { request: of.request_id }, search: {} } as const;
  return (
    <Button size="xs" variant="default" {...section} renderRoot={(props) => <Link {...link} {...props} />}>
      {children}
    </Button>
  );
}
