import { leavers } from "../passed-suite.ts";
import { translationsEndpoint } from "./endpoint.ts";

leavers(translationsEndpoint);
