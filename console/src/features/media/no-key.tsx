import { Button } from "@mantine/core";
import { IconKey } from "@tabler/icons-react";
import { useAct } from "../../api/use-act.ts";
import { EmptyState } from "../../components/empty-state.tsx";
import { t } from "../../language/areas/media.ts";
import { useSession } from "../../session/session-context.tsx";

interface NoKeyProps {
  readonly slug: string;
  /** Why a key is needed here: "Chats, pictures and videos are made …". */
  readonly what: string;
  readonly onMade: (key: string) => void;
}

/** Shown without an API key: explains why one is needed and creates it. */
export function NoKey({ slug, what, onMade }: NoKeyProps) {
  const { may } = useSession();
  const make = useAct("keys.create", {
    invalidates: ["keys.list", "session.show"],
    done: t("media.key.created"),
    onDone: ({ key }) => onMade(key.id),
  });
  if (!may("member", slug)) {
    return (
      <EmptyState icon={<IconKey />} title={t("media.key.viewer")}>
        {t("media.key.viewerHelp", { what })}
      </EmptyState>
    );
  }
  return (
    <EmptyState
      icon={<IconKey />}
      title={t("media.key.none")}
      action={
        <Button
          loading={make.isPending}
          onClick={() => make.mutate({ params: { workspace: slug }, body: { name: "playground" } })}
        >
          {t("media.key.create")}
        </Button>
      }
    >
      {t("media.key.noneHelp", { what })}
    </EmptyState>
  );
}
