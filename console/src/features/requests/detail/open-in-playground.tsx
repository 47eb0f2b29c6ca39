import { Button } from "@mantine/core";
import type { RequestDetail } from "@sluice/contract";
import { IconMessages } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import { useMemo } from "react";
import { t } from "../../../language/areas/requests.ts";
import { useGiveChat } from "../../playground/chat/chat-state.ts";
import { chatOfCall } from "../../playground/chat/imported-chat.ts";
import { modelOf, requestedModelOf } from "../model-words.ts";
import { jsonOf } from "./json-text.ts";

/** Opens a captured chat in the playground, with its model, messages, settings and key. */
export function OpenInPlayground({ detail }: { readonly detail: RequestDetail }) {
  const { workspace, key, capture, attempts } = detail;
  const give = useGiveChat(workspace.slug);
  const last = attempts.at(-1);
  const body = capture?.request_body ?? null;
  const model = last === undefined ? "" : (requestedModelOf(last) ?? modelOf(last) ?? "");
  const chat = useMemo(
    () => (body === null ? null : chatOfCall(last?.endpoint ?? "", jsonOf(body), model)),
    [body, last?.endpoint, model],
  );
  if (chat === null || workspace.slug === "") return null;
  const search = { workspace: workspace.slug, key: key.id, type: "chat", model };
  return (
    <Button
      variant="default"
      leftSection={<IconMessages size={15} aria-hidden />}
      onClick={() => give(chat)}
      renderRoot={(props) => <Link to="/playground" search={search} {...props} />}
    >
      {t("requests.detail.openInPlayground")}
    </Button>
  );
}
