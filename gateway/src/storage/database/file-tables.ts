import type { Columns, FileCopy, FileUpload, StoredFile } from "#core/index.ts";

/** The tables of files; see `schema.ts` for the formats of values. */
export interface FileTables {
  files: Columns<StoredFile>;
  file_uploads: Columns<FileUpload>;
  file_copies: Columns<FileCopy>;
}
