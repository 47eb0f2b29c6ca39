import { Button } from "@mantine/core";
import { type ConsoleKey, mayCallWith } from "@sluice/contract";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { Section } from "../../../components/section.tsx";
import { t } from "../../../language/areas/keys.ts";
import { useSession } from "../../../session/session-context.tsx";
import type { ModelAccess } from "../../access/use-access.ts";
import { KeyCalls, useCallable } from "../key-created.tsx";

/** How to call with the key. Its secret was shown once, so the calls read it from the environment. */
export function KeyCallsSection({ item }: { readonly item: ConsoleKey }) {
  const [model, setModel] = useState<ModelAccess | null>(null);
  const callable = useCallable(item, model);
  const { user, may } = useSession();
  const { chosen } = callable;
  const search = {
    workspace: item.workspace.slug,
    key: item.id,
    ...(chosen === null ? {} : { model: chosen.name }),
  };
  return (
    <Section
      title={t("keys.calls.title")}
      description={t("keys.calls.help")}
      actions={
        mayCallWith(item, user.id, { isAdmin: may("admin", item.workspace.slug) }) && (
          <Button variant="default" renderRoot={(props) => <Link to="/playground" search={search} {...props} />}>
            {t("keys.calls.playground")}
          </Button>
        )
      }
    >
      <KeyCalls itemKey={item} secret={null} callable={callable} onModel={setModel} />
    </Section>
  );
}
