export const files = {
  title: "Files",
  help: "Files that programs have uploaded, for requests and batches. The gateway stores them and sends a copy to the vendor when a request needs it.",
  needsWorkspace: "Files belong to a workspace.",
  purpose: "Purpose",
  total: "{count, plural, one {# file} other {# files}}, {size}",
  quota: "The workspace uses {used} of {quota}",
  columns: {
    name: "Name",
    id: "ID",
    copyId: "Copy ID",
    type: "Type",
    size: "Size",
    key: "API key",
    created: "Created",
    expires: "Expires",
    actions: "Actions",
  },
  list: {
    noMatch: "No matching files",
    none: "No files yet",
    noneHelp:
      "Upload a PDF, an image or the rows of a batch once, and name it by its ID in any request of this workspace:",
    curl: "An upload with curl",
  },
  download: {
    short: "Download",
    label: "Download {name}",
  },
  remove: {
    title: "Delete {name}?",
    run: "Delete file",
    short: "Delete",
    label: "Delete {name}",
    help: "Requests that name it fail from now on. Its copies at vendors are deleted, too. This cannot be undone.",
    done: "File deleted.",
  },
} as const;
