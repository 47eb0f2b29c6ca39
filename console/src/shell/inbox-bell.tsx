import { ActionIcon, Indicator, Popover } from "@mantine/core";
import { IconBell } from "@tabler/icons-react";
import { lazy, Suspense, useState } from "react";
import { useCall } from "../api/use-call.ts";
import { t } from "../language/areas/shell.ts";
import { loadChunk } from "../routes/load-chunk.ts";
import { useSession } from "../session/session-context.tsx";

const InboxList = lazy(() => loadChunk(() => import("../features/alerts/inbox-list.tsx")));

/** How often alerts are fetched while the page is visible. */
const everyMs = 30_000;

/** The latest alerts of the user, and how many are unread. */
export function InboxBell() {
  const mayView = useSession().may("viewer");
  const [opened, setOpened] = useState(false);
  const { data } = useCall("inbox.show", { enabled: mayView, everyMs });
  if (!mayView) return null;
  const unread = data?.unread ?? 0;
  return (
    <Popover opened={opened} onChange={setOpened} position="bottom-end" width={340} trapFocus returnFocus>
      <Popover.Target>
        <ActionIcon
          variant="subtle"
          color="gray"
          size="lg"
          className="inbox-bell"
          aria-label={t("shell.inbox.label", { count: unread })}
          onClick={() => setOpened(!opened)}
        >
          <Indicator label={unread > 99 ? "99+" : unread} size={16} color="red" disabled={unread === 0} lh={0}>
            <IconBell size={18} stroke={1.6} />
          </Indicator>
        </ActionIcon>
      </Popover.Target>
      <Popover.Dropdown p={0} aria-label={t("shell.inbox.title")}>
        <Suspense>
          {opened && <InboxList alerts={data?.data ?? []} unread={unread} onClose={() => setOpened(false)} />}
        </Suspense>
      </Popover.Dropdown>
    </Popover>
  );
}
