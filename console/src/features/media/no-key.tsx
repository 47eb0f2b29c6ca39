import { Button } from "@mantine/core";
import { IconKey } from "@tabler/icons-react";
import { useAct } from "../../api/use-act.ts";
import { EmptyState } from "../../components/empty-state.tsx";
import { useSession } from "../../session/session-context.tsx";

interface NoKeyProps {
  readonly slug: string;
  /** What a key would be for here: "Chats, pictures and videos are made …". */
  readonly what: string;
  readonly onMade: (key: string) => void;
}

/** Nothing to call with yet: says why a key is needed and makes one. */
export function NoKey({ slug, what, onMade }: NoKeyProps) {
  const { may } = useSession();
  const make = useAct("keys.create", {
    invalidates: ["keys.list", "session.show"],
    done: "Key made. Nobody has seen its secret; rotate the key if a program is to use it.",
    onDone: ({ key }) => onMade(key.id),
  });
  if (!may("member", slug)) {
    return (
      <EmptyState icon={<IconKey />} title="Viewers make no calls">
        {what} Calls cost money, so they need the role of a member. Ask an admin of the workspace.
      </EmptyState>
    );
  }
  return (
    <EmptyState
      icon={<IconKey />}
      title="You have no key here yet"
      action={
        <Button
          loading={make.isPending}
          onClick={() => make.mutate({ params: { workspace: slug }, body: { name: "playground" } })}
        >
          Make a key called “playground”
        </Button>
      }
    >
      {what} So every call has somebody's limits and budget, and shows up among their requests.
    </EmptyState>
  );
}
