import { badRequests } from "../forwarding-suite.ts";
import { translationsEndpoint } from "./endpoint.ts";

badRequests(translationsEndpoint);
