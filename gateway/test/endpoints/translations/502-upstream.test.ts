import { badUpstreams } from "../forwarding-suite.ts";
import { translationsEndpoint } from "./endpoint.ts";

badUpstreams(translationsEndpoint);
