import { badUpstreams } from "../passed-suite.ts";
import { translationsEndpoint } from "./endpoint.ts";

badUpstreams(translationsEndpoint);
