import { ActionIcon, Button, Checkbox, Group, Menu, Popover, Stack, Text, TextInput } from "@mantine/core";
import type { SavedView } from "@sluice/contract";
import { IconBookmark, IconDots } from "@tabler/icons-react";
import { useNavigate } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import { useAct } from "../../api/use-act.ts";
import { useCall } from "../../api/use-call.ts";
import { ProblemAlert } from "../../components/problem-alert.tsx";
import { t } from "../../language/areas/usage.ts";
import { parseSearch, useUrlSearch, writeSearch } from "../../routes/search.ts";
import { useSession } from "../../session/session-context.tsx";
import { useWorkspace } from "../../session/workspace.ts";

const invalidates = ["views.list"] as const;

/** The state of the page as text: all parameters of the URL but the workspace. */
function usePageState(): string {
  const { workspace: _, ...state } = useUrlSearch();
  return writeSearch(state).slice(1);
}

/** Views that the user or the workspace has saved: open, save, rename, share and delete them. */
export function SavedViews() {
  const { path, none, may } = useWorkspace();
  const { user } = useSession();
  const [opened, setOpened] = useState(false);
  const views = useCall("views.list", { params: { workspace: path }, enabled: opened && !none });
  const navigate = useNavigate();
  const open = (view: SavedView) => {
    const { workspace } = parseSearch(location.search);
    void navigate({ to: "/usage", search: { ...parseSearch(view.state), ...(workspace ? { workspace } : {}) } });
    setOpened(false);
  };
  const list = views.data?.data ?? [];
  return (
    <Popover opened={opened} onChange={setOpened} trapFocus position="bottom-end" shadow="md" width={320}>
      <Popover.Target>
        <Button
          variant="default"
          leftSection={<IconBookmark size={15} />}
          onClick={() => setOpened((before) => !before)}
        >
          {t("usage.views.title")}
        </Button>
      </Popover.Target>
      <Popover.Dropdown>
        <Stack gap="xs">
          {views.error !== null && <ProblemAlert problem={views.error} />}
          {views.data !== undefined && list.length === 0 && (
            <Text fz="sm" c="dimmed">
              {t("usage.views.none")}
            </Text>
          )}
          {list.map((view) => (
            <Group key={view.id} gap={4} wrap="nowrap" justify="space-between">
              <Button variant="subtle" size="compact-sm" onClick={() => open(view)} className="saved-view">
                <span>
                  {view.name}
                  {view.owner.id !== user.id && (
                    <Text span fz="xs" c="dimmed">
                      {" "}
                      {t("usage.views.sharedBy", { name: view.owner.name || view.owner.email })}
                    </Text>
                  )}
                </span>
              </Button>
              {(view.owner.id === user.id || may("admin")) && <ViewMenu view={view} />}
            </Group>
          ))}
          {!none && <SaveForm />}
        </Stack>
      </Popover.Dropdown>
    </Popover>
  );
}

function SaveForm() {
  const { path } = useWorkspace();
  const state = usePageState();
  const [name, setName] = useState("");
  const [shared, setShared] = useState(false);
  const save = useAct("views.create", { invalidates, done: t("usage.views.saved"), inline: true });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (name.trim() === "") return;
    save.mutate(
      { params: { workspace: path }, body: { page: "usage", name: name.trim(), state, shared } },
      { onSuccess: () => setName("") },
    );
  };
  return (
    <form onSubmit={submit} aria-label={t("usage.views.save")}>
      <Stack gap="xs">
        <TextInput
          label={t("usage.views.save")}
          placeholder={t("usage.views.name")}
          maxLength={256}
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
        />
        <Checkbox
          label={t("usage.views.shared")}
          checked={shared}
          onChange={(event) => setShared(event.currentTarget.checked)}
        />
        {save.error !== null && <ProblemAlert problem={save.error} />}
        <Button type="submit" disabled={name.trim() === ""} loading={save.isPending}>
          {t("usage.views.submit")}
        </Button>
      </Stack>
    </form>
  );
}

function ViewMenu({ view }: { readonly view: SavedView }) {
  const { path } = useWorkspace();
  const state = usePageState();
  const [renaming, setRenaming] = useState<string | null>(null);
  const params = { workspace: path, view: view.id };
  const update = useAct("views.update", { invalidates });
  const remove = useAct("views.remove", { invalidates, done: t("usage.views.removed") });
  if (renaming !== null) {
    return (
      <form
        onSubmit={(event) => {
          event.preventDefault();
          update.mutate({ params, body: { name: renaming.trim() } }, { onSuccess: () => setRenaming(null) });
        }}
      >
        <TextInput
          size="xs"
          aria-label={t("usage.views.name")}
          value={renaming}
          maxLength={256}
          data-autofocus
          onChange={(event) => setRenaming(event.currentTarget.value)}
        />
      </form>
    );
  }
  return (
    <Menu withinPortal={false} position="bottom-end">
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" aria-label={t("usage.views.actions", { name: view.name })}>
          <IconDots size={15} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item onClick={() => setRenaming(view.name)}>{t("usage.views.rename")}</Menu.Item>
        <Menu.Item onClick={() => update.mutate({ params, body: { shared: !view.shared } })}>
          {view.shared ? t("usage.views.unshare") : t("usage.views.share")}
        </Menu.Item>
        <Menu.Item onClick={() => update.mutate({ params, body: { state } })}>{t("usage.views.update")}</Menu.Item>
        <Menu.Item color="red" onClick={() => remove.mutate({ params })}>
          {t("usage.views.remove")}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
