-- A database of commit d974abe, for earlier-databases.spec.ts. Its service and its commands made it: each operation
-- was called, with BAN_DURATIONS=1s,12h and two receivers of webhooks, one of which always failed. Only what takes
-- days was written by SQL: the states of orders, usage of earlier days, a failed delivery, one of
-- operation.deprecated_called, and an audit event of the service itself. Then pg_dump 15 --inserts
-- --rows-per-insert=500 --no-owner --no-privileges. d974abe.json has its time, its keys and some responses.

SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;

COMMENT ON SCHEMA public IS '';

CREATE TYPE public.key_role AS ENUM (
    'client',
    'admin'
);

CREATE TYPE public.order_status AS ENUM (
    'placed',
    'approved',
    'delivered'
);

CREATE TYPE public.pet_status AS ENUM (
    'available',
    'pending',
    'sold'
);

CREATE TYPE public.usage_period AS ENUM (
    'minute',
    'hour',
    'day'
);

CREATE TYPE public.webhook_delivery_state AS ENUM (
    'pending',
    'delivered',
    'failed'
);

CREATE FUNCTION public.notify_key_change() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    PERFORM pg_notify('animal_store_keys', '');
    RETURN NULL;
END
$$;

CREATE FUNCTION public.reject_audit_change() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    RAISE EXCEPTION 'The audit is append only: % is rejected', TG_OP USING ERRCODE = 'insufficient_privilege';
END
$$;

SET default_table_access_method = heap;

CREATE TABLE public._prisma_migrations (
    id character varying(36) NOT NULL,
    checksum character varying(64) NOT NULL,
    finished_at timestamp with time zone,
    migration_name character varying(255) NOT NULL,
    logs text,
    rolled_back_at timestamp with time zone,
    started_at timestamp with time zone DEFAULT now() NOT NULL,
    applied_steps_count integer DEFAULT 0 NOT NULL
);

CREATE TABLE public.api_keys (
    id uuid NOT NULL,
    quota_id uuid NOT NULL,
    name text NOT NULL,
    note text,
    role public.key_role DEFAULT 'client'::public.key_role NOT NULL,
    scopes text[] DEFAULT ARRAY[]::text[] NOT NULL,
    allowed_networks text[] DEFAULT ARRAY[]::text[] NOT NULL,
    hash bytea NOT NULL,
    prefix text NOT NULL,
    last_four text NOT NULL,
    created_at timestamp(3) with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    expires_at timestamp(3) with time zone,
    revoked_at timestamp(3) with time zone,
    predecessor_id uuid,
    CONSTRAINT api_keys_allowed_networks_canonical CHECK ((((allowed_networks)::cidr[])::text[] = allowed_networks)),
    CONSTRAINT api_keys_expires_at_representable CHECK ((isfinite(expires_at) AND (expires_at < '10000-01-01 00:00:00+00'::timestamp with time zone))),
    CONSTRAINT api_keys_revoked_at_representable CHECK ((isfinite(revoked_at) AND (revoked_at < '10000-01-01 00:00:00+00'::timestamp with time zone))),
    CONSTRAINT api_keys_scopes_known CHECK ((scopes <@ ARRAY['pets:read'::text, 'pets:write'::text, 'orders:read'::text, 'orders:write'::text, 'admin:read'::text, 'admin:write'::text]))
);

CREATE TABLE public.audit_events (
    id bigint NOT NULL,
    at timestamp(3) with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    actor text NOT NULL,
    action text NOT NULL,
    subject text NOT NULL,
    before jsonb,
    after jsonb NOT NULL
);

CREATE SEQUENCE public.audit_events_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

ALTER SEQUENCE public.audit_events_id_seq OWNED BY public.audit_events.id;

CREATE TABLE public.orders (
    id bigint NOT NULL,
    quota_id uuid NOT NULL,
    pet_id bigint NOT NULL,
    quantity integer NOT NULL,
    ship_date timestamp(3) with time zone,
    status public.order_status DEFAULT 'placed'::public.order_status NOT NULL,
    complete boolean DEFAULT false NOT NULL,
    CONSTRAINT orders_quantity_check CHECK ((quantity >= 1))
);

CREATE SEQUENCE public.orders_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

ALTER SEQUENCE public.orders_id_seq OWNED BY public.orders.id;

CREATE TABLE public.pets (
    id bigint NOT NULL,
    name text NOT NULL,
    category_id bigint NOT NULL,
    status public.pet_status,
    CONSTRAINT pets_name_length CHECK (((char_length(name) >= 1) AND (char_length(name) <= 255)))
);

CREATE SEQUENCE public.pets_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

ALTER SEQUENCE public.pets_id_seq OWNED BY public.pets.id;

CREATE TABLE public.plans (
    name text NOT NULL,
    per_minute integer,
    per_day integer,
    CONSTRAINT plans_both_limits_or_none CHECK (((per_minute IS NULL) = (per_day IS NULL))),
    CONSTRAINT plans_limits_positive CHECK (((per_minute > 0) AND (per_day > 0)))
);

CREATE TABLE public.quotas (
    id uuid NOT NULL,
    plan text NOT NULL,
    per_minute integer,
    per_day integer,
    created_at timestamp(3) with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    CONSTRAINT quotas_both_limits_or_none CHECK (((per_minute IS NULL) = (per_day IS NULL))),
    CONSTRAINT quotas_limits_positive CHECK (((per_minute > 0) AND (per_day > 0)))
);

CREATE TABLE public.rate_limit_counters (
    bucket_key text NOT NULL,
    minute integer NOT NULL,
    minute_used integer NOT NULL,
    minute_limit integer NOT NULL,
    day integer NOT NULL,
    day_used integer NOT NULL,
    day_limit integer,
    requests integer DEFAULT 0 NOT NULL,
    allowed integer NOT NULL,
    denied integer DEFAULT 0 NOT NULL,
    refusals integer DEFAULT 0 NOT NULL,
    banned_until timestamp(3) with time zone,
    ban_level integer DEFAULT 0 NOT NULL
)
WITH (fillfactor='50', autovacuum_vacuum_threshold='1000', autovacuum_vacuum_scale_factor='0.02', autovacuum_vacuum_cost_delay='0');

CREATE TABLE public.stored_responses (
    quota_id uuid NOT NULL,
    key text NOT NULL,
    fingerprint bytea NOT NULL,
    body text NOT NULL,
    location text,
    stored_at timestamp(3) with time zone NOT NULL
);

CREATE TABLE public.usage (
    key_id uuid NOT NULL,
    quota_id uuid NOT NULL,
    period public.usage_period NOT NULL,
    starts_at timestamp(0) with time zone NOT NULL,
    operation text NOT NULL,
    deprecated boolean NOT NULL,
    succeeded bigint NOT NULL,
    redirected bigint NOT NULL,
    client_errors bigint NOT NULL,
    server_errors bigint NOT NULL,
    refusals bigint NOT NULL,
    last_at timestamp(3) with time zone NOT NULL
)
WITH (fillfactor='85');

CREATE TABLE public.usage_batches (
    id uuid NOT NULL,
    written_at timestamp(3) with time zone NOT NULL,
    size integer NOT NULL,
    entries json NOT NULL
);

CREATE TABLE public.webhook_deliveries (
    id uuid NOT NULL,
    webhook_id uuid NOT NULL,
    event text NOT NULL,
    event_key text NOT NULL,
    payload json NOT NULL,
    state public.webhook_delivery_state DEFAULT 'pending'::public.webhook_delivery_state NOT NULL,
    attempts integer DEFAULT 0 NOT NULL,
    created_at timestamp(3) with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    last_attempt_at timestamp(3) with time zone,
    last_failure text,
    next_attempt_at timestamp(3) with time zone DEFAULT CURRENT_TIMESTAMP
);

CREATE TABLE public.webhooks (
    id uuid NOT NULL,
    url text NOT NULL,
    events text[],
    secret text NOT NULL,
    previous_secret text,
    previous_secret_ends_at timestamp(3) with time zone,
    created_at timestamp(3) with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL
);

ALTER TABLE ONLY public.audit_events ALTER COLUMN id SET DEFAULT nextval('public.audit_events_id_seq'::regclass);

ALTER TABLE ONLY public.orders ALTER COLUMN id SET DEFAULT nextval('public.orders_id_seq'::regclass);

ALTER TABLE ONLY public.pets ALTER COLUMN id SET DEFAULT nextval('public.pets_id_seq'::regclass);

INSERT INTO public._prisma_migrations VALUES
	('571bb356-8bac-4da3-9412-79330a0a5bdf', 'a086791bfa10675756da50d9080f207926127f227499145f7cef64daf4213725', '2026-11-28 05:57:44.403+00', '20261123000000_init', NULL, NULL, '2026-11-28 05:57:44.213+00', 1);

INSERT INTO public.api_keys VALUES
	('01a220bb-32c2-7626-868d-b6a9ed56b551', '01a220bb-32b9-7046-8ce5-e6f8c22494e5', 'administrator', NULL, 'admin', '{}', '{}', '\x8d60dd5b41fb3e58153a4345bcea28080e275f3bdbe7ccbf15436303d5399b40', 'ask_test_', 'rOLF', '2026-11-28 05:57:48.857+00', NULL, NULL, NULL),
	('01a220bb-60d0-7319-aa4b-fb4d8892b1c3', '01a220bb-60bb-71c9-8a9a-a602d9588458', 'own limits', NULL, 'client', '{}', '{}', '\x7ee8c9c2b669e6c6d66c6db1b39a606062e486c177ad6dc7e19cf66d18277841', 'ask_test_', 'MrED', '2026-11-28 05:58:00.635+00', NULL, NULL, NULL),
	('01a220bb-61cc-7292-8fa6-b269dabf633d', '01a220bb-61ba-76be-bead-db2ad848e979', 'banned', NULL, 'client', '{}', '{}', '\xeeafbece1e30e7410c2e8fa73d64fd6330dbe731d7660cf4f27c14f675a5080d', 'ask_test_', 'gpSb', '2026-11-28 05:58:00.89+00', NULL, NULL, NULL),
	('01a220bb-6258-766f-9d8c-538e536ac8d5', '01a220bb-624f-77ed-810b-9049d1a1167c', 'formerly banned', NULL, 'client', '{}', '{}', '\x12689913b9f2553d2d15933c7ad25b841f516dfa75b03a113f89066df997ae5c', 'ask_test_', 'EX2g', '2026-11-28 05:58:01.04+00', NULL, NULL, NULL),
	('01a220bb-62c1-758e-b60c-0156278067d4', '01a220bb-62b7-7659-8439-e6d6e8bbf166', 'unbanned', NULL, 'client', '{}', '{}', '\x14388c625ff2be206e8b6cd6e1e41b7f34206ae03c02a306d46fa7dfaf176ac9', 'ask_test_', 'DSfu', '2026-11-28 05:58:01.143+00', NULL, NULL, NULL),
	('01a220bb-6317-77db-8d9d-1943998ab7ad', '01a220bb-6312-731d-9080-e85b5ff43775', 'near day limit', NULL, 'client', '{}', '{}', '\x42a5622d94ebcc24a6190897f41ca33a9749d657b4d5c4c7de2811276787208c', 'ask_test_', 'aC5d', '2026-11-28 05:58:01.234+00', NULL, NULL, NULL),
	('01a220bb-6373-779f-9663-0336e0cc31ff', '01a220bb-636e-7379-afc8-7f6e4a7d38fa', 'at day limit', NULL, 'client', '{}', '{}', '\x54520e49e632a3f9678f8a9eb29cb478cd7f7b6edd6bd46c18b764c0b182e9f1', 'ask_test_', '6lVB', '2026-11-28 05:58:01.326+00', NULL, NULL, NULL),
	('01a220bb-63cd-72ae-962d-9c449b707c1a', '01a220bb-63c5-726c-9b34-5c74441ba05a', 'near its ban', NULL, 'client', '{}', '{}', '\x845880811e590eac9491219d6a7efa15d9a905441e3f681ad9c2c0578c3070bb', 'ask_test_', 'NxxV', '2026-11-28 05:58:01.413+00', NULL, NULL, NULL),
	('01a220bb-6444-73e6-bc8f-53a47a30f388', '01a220bb-6422-7420-b989-93065e1e5a0a', 'expiring', NULL, 'client', '{}', '{}', '\xb2f97c938a74bc81d93d785bbc18b9bca35ebc962f93661d5cd9082b62771b12', 'ask_test_', 'byR6', '2026-11-28 05:58:01.506+00', '2026-12-03 05:58:01.463+00', NULL, NULL),
	('01a220bb-64ca-710d-b418-0703109931d0', '01a220bb-64ba-73af-be4f-20d5272c7d65', 'expired', NULL, 'client', '{}', '{}', '\xc69bceb35f32b7f49fdcc64dc55864b65c4acb6b5787874f0e39d6368900d64e', 'ask_test_', 'S5jf', '2026-11-28 05:58:01.659+00', '2026-11-28 05:58:04.112+00', NULL, NULL),
	('01a220bb-661e-72a8-aceb-d2316279dd01', '01a220bb-6618-761a-bd00-accf849adde8', 'auditor', NULL, 'admin', '{admin:read}', '{}', '\x21345528ffa1f35cd06514f9c91ac0185cad0cd7c458647de4091246e1c66611', 'ask_test_', 'ycSA', '2026-11-28 05:58:02.008+00', NULL, NULL, NULL),
	('01a220bb-5f94-73e9-8c87-54dc1f458bfe', '01a220bb-5f69-77ee-aabb-43b53914369a', 'networked', NULL, 'client', '{}', '{203.0.113.0/24,2001:db8::/32,127.0.0.0/8}', '\x69e202322369154b937dcf2ff7d81ed1fcd2a8860a225defe0dbc23849ba83a7', 'ask_test_', 'uh55', '2026-11-28 05:58:00.297+00', NULL, NULL, NULL),
	('01a220bb-5e85-70f6-93f7-1881533f9660', '01a220bb-5e5d-7628-8d73-42067356c21f', 'scoped', 'Reads only.', 'client', '{pets:read,orders:read}', '{}', '\xe7f598766c47df804c62a6211ca8b2a06f536116ed0b293a6cf214d2e7dcfb7f', 'ask_test_', 'DdOA', '2026-11-28 05:58:00.03+00', NULL, NULL, NULL),
	('01a220bb-6599-72ed-90ae-38f498d016f0', '01a220bb-6594-7295-8bde-e572931bbbed', 'rotating', NULL, 'client', '{}', '{}', '\x662002d0fa1b332b72980650099af9e2bead758e1419e86a0da875846b8656f8', 'ask_test_', '3Q58', '2026-11-28 05:58:01.876+00', '2026-12-28 05:58:02.985+00', NULL, NULL),
	('01a220bb-6a28-7419-90d4-5a3a9351e467', '01a220bb-6594-7295-8bde-e572931bbbed', 'rotating', NULL, 'client', '{}', '{}', '\xdf559f5df263d48420f2afee2b5c42543d8b5370f10242df1249ded7041a8d45', 'ask_test_', 'YBLR', '2026-11-28 05:58:02.985+00', NULL, NULL, '01a220bb-6599-72ed-90ae-38f498d016f0'),
	('01a220bb-65dc-7491-968b-a0b023664bd0', '01a220bb-65d6-77ea-8a6e-2e99a0c66ded', 'rotated by its holder', NULL, 'client', '{}', '{}', '\x8042d642c2c2eca6fc1c3e43a627735f712a3a0768efdb50312528a5f024c8b9', 'ask_test_', 'fne5', '2026-11-28 05:58:01.942+00', '2026-12-28 05:58:03.294+00', NULL, NULL),
	('01a220bb-6b30-714b-b591-9e21b4021e8e', '01a220bb-65d6-77ea-8a6e-2e99a0c66ded', 'rotated by its holder', NULL, 'client', '{}', '{}', '\xa9dfc854e423a42cd582834c21b59e39bd69970047fb5bbe159b8f183bec8bc6', 'ask_test_', 'vvhi', '2026-11-28 05:58:03.294+00', NULL, NULL, '01a220bb-65dc-7491-968b-a0b023664bd0'),
	('01a220bb-6529-7025-b5ce-6c28d6080e69', '01a220bb-6518-72ed-ab4d-8494fd80b619', 'revoked', NULL, 'client', '{}', '{}', '\xa23efd04a41774e449a5b702156114560ced576fe6feff9cad27c4f362ee7b92', 'ask_test_', 'oeG2', '2026-11-28 05:58:01.752+00', NULL, '2026-11-28 05:58:03.399+00', NULL),
	('01a220bb-6564-7151-9535-e267ccd9a14d', '01a220bb-6561-7798-a9f9-f3a11a79f76a', 'leaked', NULL, 'client', '{}', '{}', '\x079de67d6fa854ce8b635830bdc2e8b485a6ff689ab7846bf7dd6e3d6f55fb74', 'ask_test_', 'fW3s', '2026-11-28 05:58:01.825+00', NULL, '2026-11-28 05:58:03.818+00', NULL),
	('01a220bb-8863-777a-892c-c51e8c785ca1', '01a220bb-885a-72e9-8ee0-d45b1c571db3', 'of the added plan', NULL, 'client', '{}', '{}', '\x968cf0ad5df6bc3429fe6d8c0a0a063dfc5c073ff6bbf1fe1058466c21a1102e', 'ask_test_', 'I38U', '2026-11-28 05:58:10.778+00', NULL, NULL, NULL),
	('01a220bb-5cd4-71e9-ad27-2786ffa3386b', '01a220bb-5c87-734a-aea9-1b5a3b23d1c0', 'client', 'Calls at night.', 'client', '{}', '{}', '\xcb743be1489220bbadef9f2f65f0e22a5a4ab3585821630257a5b31ab0122b9b', 'ask_test_', 'YXCn', '2026-11-28 05:57:59.559+00', NULL, NULL, NULL);

INSERT INTO public.audit_events VALUES
	(1, '2026-11-28 05:57:48.92+00', 'terminal:ann', 'key.issued', 'key:01a220bb-32c2-7626-868d-b6a9ed56b551', NULL, '{"name": "administrator", "plan": "business", "role": "admin", "perDay": 100000, "scopes": null, "expiresAt": null, "ownLimits": false, "perMinute": 1000, "allowedNetworks": null}'),
	(2, '2026-11-28 05:57:58.247+00', '01a220bb-32c2-7626-868d-b6a9ed56b551', 'webhook.created', 'webhook:01a220bb-5734-7638-9980-6f517b027804', NULL, '{"url": "http://127.0.0.1:18090/ok", "events": ["quota.day_limit_80", "quota.day_limit_reached", "quota.banned", "key.expiring", "key.rotated", "key.revoked", "operation.deprecated_called"]}'),
	(3, '2026-11-28 05:57:58.689+00', '01a220bb-32c2-7626-868d-b6a9ed56b551', 'webhook.created', 'webhook:01a220bb-5914-74ee-8e1e-f8cf8bcc1645', NULL, '{"url": "http://127.0.0.1:18090/down", "events": ["key.revoked", "operation.deprecated_called", "quota.day_limit_80"]}'),
	(4, '2026-11-28 05:57:58.844+00', '01a220bb-32c2-7626-868d-b6a9ed56b551', 'webhook.created', 'webhook:01a220bb-59a5-74fb-9b76-60e89d30923b', NULL, '{"url": "http://127.0.0.1:18090/ok", "events": ["key.revoked"]}'),
	(5, '2026-11-28 05:57:59.055+00', '01a220bb-32c2-7626-868d-b6a9ed56b551', 'webhook.secret_rotated', 'webhook:01a220bb-5734-7638-9980-6f517b027804', '{"previousSecretEndsAt": null}', '{"previousSecretEndsAt": "2026-11-29T05:57:59.017Z"}'),
	(6, '2026-11-28 05:57:59.333+00', '01a220bb-32c2-7626-868d-b6a9ed56b551', 'webhook.deleted', 'webhook:01a220bb-59a5-74fb-9b76-60e89d30923b', '{"url": "http://127.0.0.1:18090/ok", "events": ["key.revoked"]}', '{}'),
	(7, '2026-11-28 05:57:59.72+00', '01a220bb-32c2-7626-868d-b6a9ed56b551', 'key.issued', 'key:01a220bb-5cd4-71e9-ad27-2786ffa3386b', NULL, '{"name": "client", "note": "Calls at night.", "plan": "free", "role": "client", "perDay": 1000, "scopes": null, "expiresAt": null, "ownLimits": false, "perMinute": 60, "allowedNetworks": null}'),
	(8, '2026-11-28 05:58:00.146+00', '01a220bb-32c2-7626-868d-b6a9ed56b551', 'key.issued', 'key:01a220bb-5e85-70f6-93f7-1881533f9660', NULL, '{"name": "scoped", "note": "Reads only.", "plan": "pro", "role": "client", "perDay": 10000, "scopes": ["pets:read"], "expiresAt": null, "ownLimits": false, "perMinute": 300, "allowedNetworks": null}'),
	(9, '2026-11-28 05:58:00.413+00', '01a220bb-32c2-7626-868d-b6a9ed56b551', 'key.issued', 'key:01a220bb-5f94-73e9-8c87-54dc1f458bfe', NULL, '{"name": "networked", "plan": "pro", "role": "client", "perDay": 10000, "scopes": null, "expiresAt": null, "ownLimits": false, "perMinute": 300, "allowedNetworks": ["203.0.113.0/24", "2001:db8::/32"]}'),
	(10, '2026-11-28 05:58:00.729+00', '01a220bb-32c2-7626-868d-b6a9ed56b551', 'key.issued', 'key:01a220bb-60d0-7319-aa4b-fb4d8892b1c3', NULL, '{"name": "own limits", "plan": "enterprise", "role": "client", "perDay": 1000000, "scopes": null, "expiresAt": null, "ownLimits": true, "perMinute": 5000, "allowedNetworks": null}'),
	(11, '2026-11-28 05:58:00.96+00', '01a220bb-32c2-7626-868d-b6a9ed56b551', 'key.issued', 'key:01a220bb-61cc-7292-8fa6-b269dabf633d', NULL, '{"name": "banned", "plan": "free", "role": "client", "perDay": 1000, "scopes": null, "expiresAt": null, "ownLimits": true, "perMinute": 3, "allowedNetworks": null}'),
	(12, '2026-11-28 05:58:01.087+00', '01a220bb-32c2-7626-868d-b6a9ed56b551', 'key.issued', 'key:01a220bb-6258-766f-9d8c-538e536ac8d5', NULL, '{"name": "formerly banned", "plan": "free", "role": "client", "perDay": 1000, "scopes": null, "expiresAt": null, "ownLimits": true, "perMinute": 3, "allowedNetworks": null}'),
	(13, '2026-11-28 05:58:01.176+00', '01a220bb-32c2-7626-868d-b6a9ed56b551', 'key.issued', 'key:01a220bb-62c1-758e-b60c-0156278067d4', NULL, '{"name": "unbanned", "plan": "free", "role": "client", "perDay": 1000, "scopes": null, "expiresAt": null, "ownLimits": true, "perMinute": 2, "allowedNetworks": null}'),
	(14, '2026-11-28 05:58:01.263+00', '01a220bb-32c2-7626-868d-b6a9ed56b551', 'key.issued', 'key:01a220bb-6317-77db-8d9d-1943998ab7ad', NULL, '{"name": "near day limit", "plan": "business", "role": "client", "perDay": 10, "scopes": null, "expiresAt": null, "ownLimits": true, "perMinute": 100, "allowedNetworks": null}'),
	(15, '2026-11-28 05:58:01.352+00', '01a220bb-32c2-7626-868d-b6a9ed56b551', 'key.issued', 'key:01a220bb-6373-779f-9663-0336e0cc31ff', NULL, '{"name": "at day limit", "plan": "business", "role": "client", "perDay": 5, "scopes": null, "expiresAt": null, "ownLimits": true, "perMinute": 100, "allowedNetworks": null}'),
	(16, '2026-11-28 05:58:01.443+00', '01a220bb-32c2-7626-868d-b6a9ed56b551', 'key.issued', 'key:01a220bb-63cd-72ae-962d-9c449b707c1a', NULL, '{"name": "near its ban", "plan": "free", "role": "client", "perDay": 1000, "scopes": null, "expiresAt": null, "ownLimits": true, "perMinute": 3, "allowedNetworks": null}'),
	(17, '2026-11-28 05:58:01.57+00', '01a220bb-32c2-7626-868d-b6a9ed56b551', 'key.issued', 'key:01a220bb-6444-73e6-bc8f-53a47a30f388', NULL, '{"name": "expiring", "plan": "free", "role": "client", "perDay": 1000, "scopes": null, "expiresAt": "2026-12-03T05:58:01.463Z", "ownLimits": false, "perMinute": 60, "allowedNetworks": null}'),
	(18, '2026-11-28 05:58:01.684+00', '01a220bb-32c2-7626-868d-b6a9ed56b551', 'key.issued', 'key:01a220bb-64ca-710d-b418-0703109931d0', NULL, '{"name": "expired", "plan": "free", "role": "client", "perDay": 1000, "scopes": null, "expiresAt": "2026-11-28T05:58:04.112Z", "ownLimits": false, "perMinute": 60, "allowedNetworks": null}'),
	(19, '2026-11-28 05:58:01.788+00', '01a220bb-32c2-7626-868d-b6a9ed56b551', 'key.issued', 'key:01a220bb-6529-7025-b5ce-6c28d6080e69', NULL, '{"name": "revoked", "plan": "free", "role": "client", "perDay": 1000, "scopes": null, "expiresAt": null, "ownLimits": false, "perMinute": 60, "allowedNetworks": null}'),
	(20, '2026-11-28 05:58:01.847+00', '01a220bb-32c2-7626-868d-b6a9ed56b551', 'key.issued', 'key:01a220bb-6564-7151-9535-e267ccd9a14d', NULL, '{"name": "leaked", "plan": "free", "role": "client", "perDay": 1000, "scopes": null, "expiresAt": null, "ownLimits": false, "perMinute": 60, "allowedNetworks": null}'),
	(21, '2026-11-28 05:58:01.9+00', '01a220bb-32c2-7626-868d-b6a9ed56b551', 'key.issued', 'key:01a220bb-6599-72ed-90ae-38f498d016f0', NULL, '{"name": "rotating", "plan": "pro", "role": "client", "perDay": 10000, "scopes": null, "expiresAt": null, "ownLimits": false, "perMinute": 300, "allowedNetworks": null}'),
	(22, '2026-11-28 05:58:01.961+00', '01a220bb-32c2-7626-868d-b6a9ed56b551', 'key.issued', 'key:01a220bb-65dc-7491-968b-a0b023664bd0', NULL, '{"name": "rotated by its holder", "plan": "pro", "role": "client", "perDay": 10000, "scopes": null, "expiresAt": null, "ownLimits": false, "perMinute": 300, "allowedNetworks": null}'),
	(23, '2026-11-28 05:58:02.028+00', '01a220bb-32c2-7626-868d-b6a9ed56b551', 'key.issued', 'key:01a220bb-661e-72a8-aceb-d2316279dd01', NULL, '{"name": "auditor", "plan": "business", "role": "admin", "perDay": 100000, "scopes": ["admin:read"], "expiresAt": null, "ownLimits": false, "perMinute": 1000, "allowedNetworks": null}'),
	(24, '2026-11-28 05:58:02.208+00', '01a220bb-32c2-7626-868d-b6a9ed56b551', 'key.plan_changed', 'key:01a220bb-60d0-7319-aa4b-fb4d8892b1c3', '{"plan": "enterprise", "perDay": 1000000, "ownLimits": true, "perMinute": 5000}', '{"plan": "enterprise", "perDay": 2000000, "ownLimits": true, "perMinute": 6000}'),
	(25, '2026-11-28 05:58:02.42+00', '01a220bb-32c2-7626-868d-b6a9ed56b551', 'key.labeled', 'key:01a220bb-5cd4-71e9-ad27-2786ffa3386b', '{"name": "client", "note": "Calls at night."}', '{"name": "client", "note": "Calls by day."}'),
	(26, '2026-11-28 05:58:02.713+00', '01a220bb-32c2-7626-868d-b6a9ed56b551', 'key.restricted', 'key:01a220bb-5f94-73e9-8c87-54dc1f458bfe', '{"scopes": null, "allowedNetworks": ["203.0.113.0/24", "2001:db8::/32"]}', '{"scopes": null, "allowedNetworks": ["203.0.113.0/24", "2001:db8::/32", "127.0.0.0/8"]}'),
	(27, '2026-11-28 05:58:02.934+00', '01a220bb-32c2-7626-868d-b6a9ed56b551', 'key.restricted', 'key:01a220bb-5e85-70f6-93f7-1881533f9660', '{"scopes": ["pets:read"], "allowedNetworks": null}', '{"scopes": ["pets:read", "orders:read"], "allowedNetworks": null}'),
	(28, '2026-11-28 05:58:03.128+00', '01a220bb-32c2-7626-868d-b6a9ed56b551', 'key.rotated', 'key:01a220bb-6599-72ed-90ae-38f498d016f0', '{"expiresAt": null, "successorId": null}', '{"expiresAt": "2026-12-28T05:58:02.985Z", "successorId": "01a220bb-6a28-7419-90d4-5a3a9351e467", "successorExpiresAt": null}'),
	(29, '2026-11-28 05:58:03.325+00', '01a220bb-65dc-7491-968b-a0b023664bd0', 'key.rotated', 'key:01a220bb-65dc-7491-968b-a0b023664bd0', '{"expiresAt": null, "successorId": null}', '{"expiresAt": "2026-12-28T05:58:03.294Z", "successorId": "01a220bb-6b30-714b-b591-9e21b4021e8e", "successorExpiresAt": null}'),
	(30, '2026-11-28 05:58:03.426+00', '01a220bb-32c2-7626-868d-b6a9ed56b551', 'key.revoked', 'key:01a220bb-6529-7025-b5ce-6c28d6080e69', '{"revokedAt": null}', '{"revokedAt": "2026-11-28T05:58:03.399Z"}'),
	(31, '2026-11-28 05:58:03.84+00', '01a220bb-32c2-7626-868d-b6a9ed56b551', 'key.revoked', 'key:01a220bb-6564-7151-9535-e267ccd9a14d', '{"revokedAt": null}', '{"revokedAt": "2026-11-28T05:58:03.818Z"}'),
	(32, '2026-11-28 05:58:09.42+00', 'terminal:ann', 'plan.changed', 'plan:free', '{"perDay": 1000, "perMinute": 60}', '{"perDay": 900, "perMinute": 30}'),
	(33, '2026-11-28 05:58:10.698+00', '01a220bb-32c2-7626-868d-b6a9ed56b551', 'plan.created', 'plan:startup', NULL, '{"perDay": 3000, "perMinute": 120}'),
	(34, '2026-11-28 05:58:10.811+00', '01a220bb-32c2-7626-868d-b6a9ed56b551', 'key.issued', 'key:01a220bb-8863-777a-892c-c51e8c785ca1', NULL, '{"name": "of the added plan", "plan": "startup", "role": "client", "perDay": 3000, "scopes": null, "expiresAt": null, "ownLimits": false, "perMinute": 120, "allowedNetworks": null}'),
	(35, '2026-11-28 05:58:17.046+00', 'terminal:bob', 'key.labeled', 'key:01a220bb-5cd4-71e9-ad27-2786ffa3386b', '{"name": "client", "note": "Calls by day."}', '{"name": "client", "note": "Calls at night."}'),
	(36, '2026-11-28 05:58:22.517+00', '01a220bb-32c2-7626-868d-b6a9ed56b551', 'key.unbanned', 'key:01a220bb-62c1-758e-b60c-0156278067d4', '{"bannedUntil": "2026-11-28T17:58:22.424Z"}', '{"bannedUntil": null}'),
	(37, '2026-11-28 05:58:57.529+00', 'terminal', 'key.issued', 'key:01a220bb-32c2-7626-868d-b6a9ed56b551', NULL, '{"name": "administrator", "plan": "business", "role": "admin", "perDay": 100000, "scopes": null, "expiresAt": null, "ownLimits": false, "perMinute": 1000, "allowedNetworks": null}');

INSERT INTO public.orders VALUES
	(1, '01a220bb-5c87-734a-aea9-1b5a3b23d1c0', 1, 2, '2026-12-24 18:00:00+00', 'placed', false),
	(4, '01a220bb-60bb-71c9-8a9a-a602d9588458', 3, 1, NULL, 'placed', false),
	(2, '01a220bb-5c87-734a-aea9-1b5a3b23d1c0', 2, 1, NULL, 'approved', false),
	(3, '01a220bb-5c87-734a-aea9-1b5a3b23d1c0', 2, 3, NULL, 'delivered', true);

INSERT INTO public.pets VALUES
	(1, 'Rex', 7, 'available'),
	(2, 'Tom', 7, 'pending'),
	(3, 'Ida', 7, 'sold'),
	(4, 'Zoë 🐈', 7, NULL),
	(5, 'Max', 9223372036854775807, 'available');

INSERT INTO public.plans VALUES
	('pro', 300, 10000),
	('business', 1000, 100000),
	('enterprise', NULL, NULL),
	('free', 30, 900),
	('startup', 120, 3000);

INSERT INTO public.quotas VALUES
	('01a220bb-32b9-7046-8ce5-e6f8c22494e5', 'business', NULL, NULL, '2026-11-28 05:57:48.857+00'),
	('01a220bb-5c87-734a-aea9-1b5a3b23d1c0', 'free', NULL, NULL, '2026-11-28 05:57:59.559+00'),
	('01a220bb-5e5d-7628-8d73-42067356c21f', 'pro', NULL, NULL, '2026-11-28 05:58:00.03+00'),
	('01a220bb-5f69-77ee-aabb-43b53914369a', 'pro', NULL, NULL, '2026-11-28 05:58:00.297+00'),
	('01a220bb-61ba-76be-bead-db2ad848e979', 'free', 3, 1000, '2026-11-28 05:58:00.89+00'),
	('01a220bb-624f-77ed-810b-9049d1a1167c', 'free', 3, 1000, '2026-11-28 05:58:01.04+00'),
	('01a220bb-62b7-7659-8439-e6d6e8bbf166', 'free', 2, 1000, '2026-11-28 05:58:01.143+00'),
	('01a220bb-6312-731d-9080-e85b5ff43775', 'business', 100, 10, '2026-11-28 05:58:01.234+00'),
	('01a220bb-636e-7379-afc8-7f6e4a7d38fa', 'business', 100, 5, '2026-11-28 05:58:01.326+00'),
	('01a220bb-63c5-726c-9b34-5c74441ba05a', 'free', 3, 1000, '2026-11-28 05:58:01.413+00'),
	('01a220bb-6422-7420-b989-93065e1e5a0a', 'free', NULL, NULL, '2026-11-28 05:58:01.506+00'),
	('01a220bb-64ba-73af-be4f-20d5272c7d65', 'free', NULL, NULL, '2026-11-28 05:58:01.659+00'),
	('01a220bb-6518-72ed-ab4d-8494fd80b619', 'free', NULL, NULL, '2026-11-28 05:58:01.752+00'),
	('01a220bb-6561-7798-a9f9-f3a11a79f76a', 'free', NULL, NULL, '2026-11-28 05:58:01.825+00'),
	('01a220bb-6594-7295-8bde-e572931bbbed', 'pro', NULL, NULL, '2026-11-28 05:58:01.876+00'),
	('01a220bb-65d6-77ea-8a6e-2e99a0c66ded', 'pro', NULL, NULL, '2026-11-28 05:58:01.942+00'),
	('01a220bb-6618-761a-bd00-accf849adde8', 'business', NULL, NULL, '2026-11-28 05:58:02.008+00'),
	('01a220bb-885a-72e9-8ee0-d45b1c571db3', 'startup', NULL, NULL, '2026-11-28 05:58:10.778+00'),
	('01a220bb-60bb-71c9-8a9a-a602d9588458', 'enterprise', 6000, 2000000, '2026-11-28 05:58:00.635+00');

INSERT INTO public.rate_limit_counters VALUES
	('quota:01a220bb-65d6-77ea-8a6e-2e99a0c66ded', 29930758, 2, 300, 20785, 2, 10000, 1, 1, 0, 0, NULL, 0),
	('quota:01a220bb-32b9-7046-8ce5-e6f8c22494e5', 29930759, 8, 1000, 20785, 61, 100000, 1, 1, 0, 0, NULL, 0),
	('status:01a220bb-5c87-734a-aea9-1b5a3b23d1c0', 29930758, 1, 60, 20785, 1, NULL, 1, 1, 0, 0, NULL, 0),
	('quota:01a220bb-5e5d-7628-8d73-42067356c21f', 29930758, 1, 300, 20785, 1, 10000, 1, 1, 0, 0, NULL, 0),
	('quota:01a220bb-5f69-77ee-aabb-43b53914369a', 29930758, 1, 300, 20785, 1, 10000, 1, 1, 0, 0, NULL, 0),
	('quota:01a220bb-6594-7295-8bde-e572931bbbed', 29930758, 2, 300, 20785, 2, 10000, 1, 1, 0, 0, NULL, 0),
	('quota:01a220bb-6422-7420-b989-93065e1e5a0a', 29930758, 1, 30, 20785, 1, 900, 1, 1, 0, 0, NULL, 0),
	('quota:01a220bb-60bb-71c9-8a9a-a602d9588458', 29930759, 2, 6000, 20785, 4, 2000000, 1, 1, 0, 0, NULL, 0),
	('quota:01a220bb-6312-731d-9080-e85b5ff43775', 29930758, 8, 100, 20785, 8, 10, 1, 1, 0, 0, NULL, 0),
	('quota:01a220bb-5c87-734a-aea9-1b5a3b23d1c0', 29930759, 7, 30, 20785, 37, 900, 1, 1, 0, 0, NULL, 0),
	('quota:01a220bb-636e-7379-afc8-7f6e4a7d38fa', 29930758, 5, 100, 20785, 5, 5, 1, 1, 0, 0, NULL, 0),
	('address:127.0.0.1', 29930758, 2, 300, 20785, 2, NULL, 1, 1, 0, 0, NULL, 0),
	('quota:01a220bb-624f-77ed-810b-9049d1a1167c', 29930758, 3, 3, 20785, 3, 1000, 6, 2, 3, 0, '2026-11-28 05:58:22.028+00', 1),
	('quota:01a220bb-61ba-76be-bead-db2ad848e979', 29930758, 3, 3, 20785, 3, 1000, 3, 0, 0, 0, '2026-11-28 17:58:22.438+00', 2),
	('quota:01a220bb-62b7-7659-8439-e6d6e8bbf166', 29930758, 2, 2, 20785, 2, 1000, 4, 0, 2, 0, '2026-11-28 05:58:22.519+00', 2),
	('quota:01a220bb-6618-761a-bd00-accf849adde8', 29930758, 1, 1000, 20785, 1, 100000, 1, 1, 0, 0, NULL, 0),
	('quota:01a220bb-63c5-726c-9b34-5c74441ba05a', 29930759, 3, 3, 20785, 3, 1000, 1, 0, 1, 1, NULL, 0);

INSERT INTO public.stored_responses VALUES
	('01a220bb-5c87-734a-aea9-1b5a3b23d1c0', 'pet-of-then', '\x46d3a8e1838ee745b578b0108b9141403e54114a5c7dae2cd1a4690fded34c52', '{"id":5,"name":"Max","categoryId":9223372036854775807,"status":"available"}', '/v1/pets/5', '2026-11-28 05:58:19.091+00'),
	('01a220bb-5c87-734a-aea9-1b5a3b23d1c0', 'order-of-then', '\xbeea5e7d3b971901679b45edfb3d56f27463590915b5bed8505bfcbda1978639', '{"id":1,"petId":1,"quantity":2,"status":"placed","complete":false,"shipDate":"2026-12-24T18:00:00.000Z"}', NULL, '2026-11-28 05:58:19.106+00');

INSERT INTO public.usage VALUES
	('01a220bb-32c2-7626-868d-b6a9ed56b551', '01a220bb-32b9-7046-8ce5-e6f8c22494e5', 'minute', '2026-11-28 05:57:00+00', 'createWebhook', false, 3, 0, 0, 0, 0, '2026-11-28 05:57:58.76+00'),
	('01a220bb-32c2-7626-868d-b6a9ed56b551', '01a220bb-32b9-7046-8ce5-e6f8c22494e5', 'minute', '2026-11-28 05:57:00+00', 'deleteWebhook', false, 1, 0, 0, 0, 0, '2026-11-28 05:57:59.235+00'),
	('01a220bb-32c2-7626-868d-b6a9ed56b551', '01a220bb-32b9-7046-8ce5-e6f8c22494e5', 'minute', '2026-11-28 05:57:00+00', 'rotateWebhookSecret', false, 1, 0, 0, 0, 0, '2026-11-28 05:57:58.876+00'),
	('01a220bb-32c2-7626-868d-b6a9ed56b551', '01a220bb-32b9-7046-8ce5-e6f8c22494e5', 'hour', '2026-11-28 05:00:00+00', 'createWebhook', false, 3, 0, 0, 0, 0, '2026-11-28 05:57:58.76+00'),
	('01a220bb-32c2-7626-868d-b6a9ed56b551', '01a220bb-32b9-7046-8ce5-e6f8c22494e5', 'hour', '2026-11-28 05:00:00+00', 'deleteWebhook', false, 1, 0, 0, 0, 0, '2026-11-28 05:57:59.235+00'),
	('01a220bb-32c2-7626-868d-b6a9ed56b551', '01a220bb-32b9-7046-8ce5-e6f8c22494e5', 'hour', '2026-11-28 05:00:00+00', 'rotateWebhookSecret', false, 1, 0, 0, 0, 0, '2026-11-28 05:57:58.876+00'),
	('01a220bb-32c2-7626-868d-b6a9ed56b551', '01a220bb-32b9-7046-8ce5-e6f8c22494e5', 'day', '2026-11-28 00:00:00+00', 'createWebhook', false, 3, 0, 0, 0, 0, '2026-11-28 05:57:58.76+00'),
	('01a220bb-32c2-7626-868d-b6a9ed56b551', '01a220bb-32b9-7046-8ce5-e6f8c22494e5', 'day', '2026-11-28 00:00:00+00', 'deleteWebhook', false, 1, 0, 0, 0, 0, '2026-11-28 05:57:59.235+00'),
	('01a220bb-32c2-7626-868d-b6a9ed56b551', '01a220bb-32b9-7046-8ce5-e6f8c22494e5', 'day', '2026-11-28 00:00:00+00', 'rotateWebhookSecret', false, 1, 0, 0, 0, 0, '2026-11-28 05:57:58.876+00'),
	('01a220bb-32c2-7626-868d-b6a9ed56b551', '01a220bb-32b9-7046-8ce5-e6f8c22494e5', 'minute', '2026-11-28 05:57:00+00', 'issueKey', false, 2, 0, 0, 0, 0, '2026-11-28 05:57:59.957+00'),
	('01a220bb-32c2-7626-868d-b6a9ed56b551', '01a220bb-32b9-7046-8ce5-e6f8c22494e5', 'minute', '2026-11-28 05:58:00+00', 'changePlan', false, 1, 0, 0, 0, 0, '2026-11-28 05:58:02.07+00'),
	('01a220bb-32c2-7626-868d-b6a9ed56b551', '01a220bb-32b9-7046-8ce5-e6f8c22494e5', 'minute', '2026-11-28 05:58:00+00', 'issueKey', false, 16, 0, 0, 0, 0, '2026-11-28 05:58:10.768+00'),
	('01a220bb-32c2-7626-868d-b6a9ed56b551', '01a220bb-32b9-7046-8ce5-e6f8c22494e5', 'minute', '2026-11-28 05:58:00+00', 'labelKey', false, 1, 0, 0, 0, 0, '2026-11-28 05:58:02.386+00'),
	('01a220bb-32c2-7626-868d-b6a9ed56b551', '01a220bb-32b9-7046-8ce5-e6f8c22494e5', 'minute', '2026-11-28 05:58:00+00', 'restrictKey', false, 2, 0, 0, 0, 0, '2026-11-28 05:58:02.877+00'),
	('01a220bb-32c2-7626-868d-b6a9ed56b551', '01a220bb-32b9-7046-8ce5-e6f8c22494e5', 'minute', '2026-11-28 05:58:00+00', 'revokeKey', false, 1, 0, 0, 0, 0, '2026-11-28 05:58:03.384+00'),
	('01a220bb-32c2-7626-868d-b6a9ed56b551', '01a220bb-32b9-7046-8ce5-e6f8c22494e5', 'minute', '2026-11-28 05:58:00+00', 'revokeLeakedKey', false, 1, 0, 0, 0, 0, '2026-11-28 05:58:03.597+00'),
	('01a220bb-32c2-7626-868d-b6a9ed56b551', '01a220bb-32b9-7046-8ce5-e6f8c22494e5', 'minute', '2026-11-28 05:58:00+00', 'rotateKey', false, 1, 0, 0, 0, 0, '2026-11-28 05:58:02.963+00'),
	('01a220bb-32c2-7626-868d-b6a9ed56b551', '01a220bb-32b9-7046-8ce5-e6f8c22494e5', 'minute', '2026-11-28 05:58:00+00', 'setPlan', false, 1, 0, 0, 0, 0, '2026-11-28 05:58:10.646+00'),
	('01a220bb-32c2-7626-868d-b6a9ed56b551', '01a220bb-32b9-7046-8ce5-e6f8c22494e5', 'hour', '2026-11-28 05:00:00+00', 'changePlan', false, 1, 0, 0, 0, 0, '2026-11-28 05:58:02.07+00'),
	('01a220bb-32c2-7626-868d-b6a9ed56b551', '01a220bb-32b9-7046-8ce5-e6f8c22494e5', 'hour', '2026-11-28 05:00:00+00', 'issueKey', false, 18, 0, 0, 0, 0, '2026-11-28 05:58:10.768+00'),
	('01a220bb-32c2-7626-868d-b6a9ed56b551', '01a220bb-32b9-7046-8ce5-e6f8c22494e5', 'hour', '2026-11-28 05:00:00+00', 'labelKey', false, 1, 0, 0, 0, 0, '2026-11-28 05:58:02.386+00'),
	('01a220bb-32c2-7626-868d-b6a9ed56b551', '01a220bb-32b9-7046-8ce5-e6f8c22494e5', 'hour', '2026-11-28 05:00:00+00', 'restrictKey', false, 2, 0, 0, 0, 0, '2026-11-28 05:58:02.877+00'),
	('01a220bb-32c2-7626-868d-b6a9ed56b551', '01a220bb-32b9-7046-8ce5-e6f8c22494e5', 'hour', '2026-11-28 05:00:00+00', 'revokeKey', false, 1, 0, 0, 0, 0, '2026-11-28 05:58:03.384+00'),
	('01a220bb-32c2-7626-868d-b6a9ed56b551', '01a220bb-32b9-7046-8ce5-e6f8c22494e5', 'hour', '2026-11-28 05:00:00+00', 'revokeLeakedKey', false, 1, 0, 0, 0, 0, '2026-11-28 05:58:03.597+00'),
	('01a220bb-32c2-7626-868d-b6a9ed56b551', '01a220bb-32b9-7046-8ce5-e6f8c22494e5', 'hour', '2026-11-28 05:00:00+00', 'rotateKey', false, 1, 0, 0, 0, 0, '2026-11-28 05:58:02.963+00'),
	('01a220bb-32c2-7626-868d-b6a9ed56b551', '01a220bb-32b9-7046-8ce5-e6f8c22494e5', 'hour', '2026-11-28 05:00:00+00', 'setPlan', false, 1, 0, 0, 0, 0, '2026-11-28 05:58:10.646+00'),
	('01a220bb-32c2-7626-868d-b6a9ed56b551', '01a220bb-32b9-7046-8ce5-e6f8c22494e5', 'day', '2026-11-28 00:00:00+00', 'changePlan', false, 1, 0, 0, 0, 0, '2026-11-28 05:58:02.07+00'),
	('01a220bb-32c2-7626-868d-b6a9ed56b551', '01a220bb-32b9-7046-8ce5-e6f8c22494e5', 'day', '2026-11-28 00:00:00+00', 'issueKey', false, 18, 0, 0, 0, 0, '2026-11-28 05:58:10.768+00'),
	('01a220bb-32c2-7626-868d-b6a9ed56b551', '01a220bb-32b9-7046-8ce5-e6f8c22494e5', 'day', '2026-11-28 00:00:00+00', 'labelKey', false, 1, 0, 0, 0, 0, '2026-11-28 05:58:02.386+00'),
	('01a220bb-32c2-7626-868d-b6a9ed56b551', '01a220bb-32b9-7046-8ce5-e6f8c22494e5', 'day', '2026-11-28 00:00:00+00', 'restrictKey', false, 2, 0, 0, 0, 0, '2026-11-28 05:58:02.877+00'),
	('01a220bb-32c2-7626-868d-b6a9ed56b551', '01a220bb-32b9-7046-8ce5-e6f8c22494e5', 'day', '2026-11-28 00:00:00+00', 'revokeKey', false, 1, 0, 0, 0, 0, '2026-11-28 05:58:03.384+00'),
	('01a220bb-32c2-7626-868d-b6a9ed56b551', '01a220bb-32b9-7046-8ce5-e6f8c22494e5', 'day', '2026-11-28 00:00:00+00', 'revokeLeakedKey', false, 1, 0, 0, 0, 0, '2026-11-28 05:58:03.597+00'),
	('01a220bb-32c2-7626-868d-b6a9ed56b551', '01a220bb-32b9-7046-8ce5-e6f8c22494e5', 'day', '2026-11-28 00:00:00+00', 'rotateKey', false, 1, 0, 0, 0, 0, '2026-11-28 05:58:02.963+00'),
	('01a220bb-32c2-7626-868d-b6a9ed56b551', '01a220bb-32b9-7046-8ce5-e6f8c22494e5', 'day', '2026-11-28 00:00:00+00', 'setPlan', false, 1, 0, 0, 0, 0, '2026-11-28 05:58:10.646+00'),
	('01a220bb-65dc-7491-968b-a0b023664bd0', '01a220bb-65d6-77ea-8a6e-2e99a0c66ded', 'minute', '2026-11-28 05:58:00+00', 'rotateOwnKey', false, 1, 0, 0, 0, 0, '2026-11-28 05:58:03.252+00'),
	('01a220bb-65dc-7491-968b-a0b023664bd0', '01a220bb-65d6-77ea-8a6e-2e99a0c66ded', 'hour', '2026-11-28 05:00:00+00', 'rotateOwnKey', false, 1, 0, 0, 0, 0, '2026-11-28 05:58:03.252+00'),
	('01a220bb-65dc-7491-968b-a0b023664bd0', '01a220bb-65d6-77ea-8a6e-2e99a0c66ded', 'day', '2026-11-28 00:00:00+00', 'rotateOwnKey', false, 1, 0, 0, 0, 0, '2026-11-28 05:58:03.252+00'),
	('01a220bb-5cd4-71e9-ad27-2786ffa3386b', '01a220bb-5c87-734a-aea9-1b5a3b23d1c0', 'minute', '2026-11-28 05:58:00+00', 'createOrder', false, 3, 0, 0, 0, 0, '2026-11-28 05:58:19.13+00'),
	('01a220bb-5cd4-71e9-ad27-2786ffa3386b', '01a220bb-5c87-734a-aea9-1b5a3b23d1c0', 'minute', '2026-11-28 05:58:00+00', 'createPet', false, 5, 0, 1, 0, 0, '2026-11-28 05:58:19.386+00'),
	('01a220bb-5cd4-71e9-ad27-2786ffa3386b', '01a220bb-5c87-734a-aea9-1b5a3b23d1c0', 'minute', '2026-11-28 05:58:00+00', 'getOwnKey', false, 1, 0, 0, 0, 0, '2026-11-28 05:58:19.226+00'),
	('01a220bb-5cd4-71e9-ad27-2786ffa3386b', '01a220bb-5c87-734a-aea9-1b5a3b23d1c0', 'minute', '2026-11-28 05:58:00+00', 'getPet', true, 1, 0, 1, 0, 0, '2026-11-28 05:58:19.36+00'),
	('01a220bb-5cd4-71e9-ad27-2786ffa3386b', '01a220bb-5c87-734a-aea9-1b5a3b23d1c0', 'minute', '2026-11-28 05:58:00+00', 'getRateLimit', false, 1, 0, 0, 0, 0, '2026-11-28 05:58:19.201+00'),
	('01a220bb-5cd4-71e9-ad27-2786ffa3386b', '01a220bb-5c87-734a-aea9-1b5a3b23d1c0', 'minute', '2026-11-28 05:58:00+00', 'listOrders', false, 1, 0, 0, 0, 0, '2026-11-28 05:58:19.176+00'),
	('01a220bb-5cd4-71e9-ad27-2786ffa3386b', '01a220bb-5c87-734a-aea9-1b5a3b23d1c0', 'minute', '2026-11-28 05:58:00+00', 'listOwnDeprecatedCalls', false, 1, 0, 0, 0, 0, '2026-11-28 05:58:19.338+00'),
	('01a220bb-5cd4-71e9-ad27-2786ffa3386b', '01a220bb-5c87-734a-aea9-1b5a3b23d1c0', 'minute', '2026-11-28 05:58:00+00', 'listOwnUsage', false, 1, 0, 0, 0, 0, '2026-11-28 05:58:19.324+00'),
	('01a220bb-5cd4-71e9-ad27-2786ffa3386b', '01a220bb-5c87-734a-aea9-1b5a3b23d1c0', 'minute', '2026-11-28 05:58:00+00', 'listPets', false, 14, 0, 1, 0, 1, '2026-11-28 05:58:22.499+00'),
	('01a220bb-5cd4-71e9-ad27-2786ffa3386b', '01a220bb-5c87-734a-aea9-1b5a3b23d1c0', 'minute', '2026-11-28 05:58:00+00', 'none', false, 0, 0, 1, 0, 0, '2026-11-28 05:58:19.379+00'),
	('01a220bb-5cd4-71e9-ad27-2786ffa3386b', '01a220bb-5c87-734a-aea9-1b5a3b23d1c0', 'hour', '2026-11-28 05:00:00+00', 'createOrder', false, 3, 0, 0, 0, 0, '2026-11-28 05:58:19.13+00'),
	('01a220bb-5cd4-71e9-ad27-2786ffa3386b', '01a220bb-5c87-734a-aea9-1b5a3b23d1c0', 'hour', '2026-11-28 05:00:00+00', 'createPet', false, 5, 0, 1, 0, 0, '2026-11-28 05:58:19.386+00'),
	('01a220bb-5cd4-71e9-ad27-2786ffa3386b', '01a220bb-5c87-734a-aea9-1b5a3b23d1c0', 'hour', '2026-11-28 05:00:00+00', 'getOwnKey', false, 1, 0, 0, 0, 0, '2026-11-28 05:58:19.226+00'),
	('01a220bb-5cd4-71e9-ad27-2786ffa3386b', '01a220bb-5c87-734a-aea9-1b5a3b23d1c0', 'hour', '2026-11-28 05:00:00+00', 'getPet', true, 1, 0, 1, 0, 0, '2026-11-28 05:58:19.36+00'),
	('01a220bb-5cd4-71e9-ad27-2786ffa3386b', '01a220bb-5c87-734a-aea9-1b5a3b23d1c0', 'hour', '2026-11-28 05:00:00+00', 'getRateLimit', false, 1, 0, 0, 0, 0, '2026-11-28 05:58:19.201+00'),
	('01a220bb-5cd4-71e9-ad27-2786ffa3386b', '01a220bb-5c87-734a-aea9-1b5a3b23d1c0', 'hour', '2026-11-28 05:00:00+00', 'listOrders', false, 1, 0, 0, 0, 0, '2026-11-28 05:58:19.176+00'),
	('01a220bb-5cd4-71e9-ad27-2786ffa3386b', '01a220bb-5c87-734a-aea9-1b5a3b23d1c0', 'hour', '2026-11-28 05:00:00+00', 'listOwnDeprecatedCalls', false, 1, 0, 0, 0, 0, '2026-11-28 05:58:19.338+00'),
	('01a220bb-5cd4-71e9-ad27-2786ffa3386b', '01a220bb-5c87-734a-aea9-1b5a3b23d1c0', 'hour', '2026-11-28 05:00:00+00', 'listOwnUsage', false, 1, 0, 0, 0, 0, '2026-11-28 05:58:19.324+00'),
	('01a220bb-5cd4-71e9-ad27-2786ffa3386b', '01a220bb-5c87-734a-aea9-1b5a3b23d1c0', 'hour', '2026-11-28 05:00:00+00', 'none', false, 0, 0, 1, 0, 0, '2026-11-28 05:58:19.379+00'),
	('01a220bb-5cd4-71e9-ad27-2786ffa3386b', '01a220bb-5c87-734a-aea9-1b5a3b23d1c0', 'day', '2026-11-28 00:00:00+00', 'createOrder', false, 3, 0, 0, 0, 0, '2026-11-28 05:58:19.13+00'),
	('01a220bb-5cd4-71e9-ad27-2786ffa3386b', '01a220bb-5c87-734a-aea9-1b5a3b23d1c0', 'day', '2026-11-28 00:00:00+00', 'createPet', false, 5, 0, 1, 0, 0, '2026-11-28 05:58:19.386+00'),
	('01a220bb-5cd4-71e9-ad27-2786ffa3386b', '01a220bb-5c87-734a-aea9-1b5a3b23d1c0', 'day', '2026-11-28 00:00:00+00', 'getOwnKey', false, 1, 0, 0, 0, 0, '2026-11-28 05:58:19.226+00'),
	('01a220bb-5cd4-71e9-ad27-2786ffa3386b', '01a220bb-5c87-734a-aea9-1b5a3b23d1c0', 'day', '2026-11-28 00:00:00+00', 'getPet', true, 1, 0, 1, 0, 0, '2026-11-28 05:58:19.36+00'),
	('01a220bb-5cd4-71e9-ad27-2786ffa3386b', '01a220bb-5c87-734a-aea9-1b5a3b23d1c0', 'day', '2026-11-28 00:00:00+00', 'getRateLimit', false, 1, 0, 0, 0, 0, '2026-11-28 05:58:19.201+00'),
	('01a220bb-5cd4-71e9-ad27-2786ffa3386b', '01a220bb-5c87-734a-aea9-1b5a3b23d1c0', 'day', '2026-11-28 00:00:00+00', 'listOrders', false, 1, 0, 0, 0, 0, '2026-11-28 05:58:19.176+00'),
	('01a220bb-5cd4-71e9-ad27-2786ffa3386b', '01a220bb-5c87-734a-aea9-1b5a3b23d1c0', 'day', '2026-11-28 00:00:00+00', 'listOwnDeprecatedCalls', false, 1, 0, 0, 0, 0, '2026-11-28 05:58:19.338+00'),
	('01a220bb-5cd4-71e9-ad27-2786ffa3386b', '01a220bb-5c87-734a-aea9-1b5a3b23d1c0', 'day', '2026-11-28 00:00:00+00', 'listOwnUsage', false, 1, 0, 0, 0, 0, '2026-11-28 05:58:19.324+00'),
	('01a220bb-5cd4-71e9-ad27-2786ffa3386b', '01a220bb-5c87-734a-aea9-1b5a3b23d1c0', 'day', '2026-11-28 00:00:00+00', 'none', false, 0, 0, 1, 0, 0, '2026-11-28 05:58:19.379+00'),
	('01a220bb-5e85-70f6-93f7-1881533f9660', '01a220bb-5e5d-7628-8d73-42067356c21f', 'minute', '2026-11-28 05:58:00+00', 'listPets', false, 1, 0, 0, 0, 0, '2026-11-28 05:58:19.394+00'),
	('01a220bb-5e85-70f6-93f7-1881533f9660', '01a220bb-5e5d-7628-8d73-42067356c21f', 'hour', '2026-11-28 05:00:00+00', 'listPets', false, 1, 0, 0, 0, 0, '2026-11-28 05:58:19.394+00'),
	('01a220bb-5e85-70f6-93f7-1881533f9660', '01a220bb-5e5d-7628-8d73-42067356c21f', 'day', '2026-11-28 00:00:00+00', 'listPets', false, 1, 0, 0, 0, 0, '2026-11-28 05:58:19.394+00'),
	('01a220bb-5f94-73e9-8c87-54dc1f458bfe', '01a220bb-5f69-77ee-aabb-43b53914369a', 'minute', '2026-11-28 05:58:00+00', 'listPets', false, 1, 0, 0, 0, 0, '2026-11-28 05:58:19.405+00'),
	('01a220bb-5f94-73e9-8c87-54dc1f458bfe', '01a220bb-5f69-77ee-aabb-43b53914369a', 'hour', '2026-11-28 05:00:00+00', 'listPets', false, 1, 0, 0, 0, 0, '2026-11-28 05:58:19.405+00'),
	('01a220bb-5f94-73e9-8c87-54dc1f458bfe', '01a220bb-5f69-77ee-aabb-43b53914369a', 'day', '2026-11-28 00:00:00+00', 'listPets', false, 1, 0, 0, 0, 0, '2026-11-28 05:58:19.405+00'),
	('01a220bb-60d0-7319-aa4b-fb4d8892b1c3', '01a220bb-60bb-71c9-8a9a-a602d9588458', 'minute', '2026-11-28 05:58:00+00', 'createOrder', false, 1, 0, 0, 0, 0, '2026-11-28 05:58:19.142+00'),
	('01a220bb-60d0-7319-aa4b-fb4d8892b1c3', '01a220bb-60bb-71c9-8a9a-a602d9588458', 'minute', '2026-11-28 05:58:00+00', 'listPets', false, 1, 0, 0, 0, 0, '2026-11-28 05:58:19.423+00'),
	('01a220bb-60d0-7319-aa4b-fb4d8892b1c3', '01a220bb-60bb-71c9-8a9a-a602d9588458', 'hour', '2026-11-28 05:00:00+00', 'createOrder', false, 1, 0, 0, 0, 0, '2026-11-28 05:58:19.142+00'),
	('01a220bb-60d0-7319-aa4b-fb4d8892b1c3', '01a220bb-60bb-71c9-8a9a-a602d9588458', 'hour', '2026-11-28 05:00:00+00', 'listPets', false, 1, 0, 0, 0, 0, '2026-11-28 05:58:19.423+00'),
	('01a220bb-60d0-7319-aa4b-fb4d8892b1c3', '01a220bb-60bb-71c9-8a9a-a602d9588458', 'day', '2026-11-28 00:00:00+00', 'createOrder', false, 1, 0, 0, 0, 0, '2026-11-28 05:58:19.142+00'),
	('01a220bb-60d0-7319-aa4b-fb4d8892b1c3', '01a220bb-60bb-71c9-8a9a-a602d9588458', 'day', '2026-11-28 00:00:00+00', 'listPets', false, 1, 0, 0, 0, 0, '2026-11-28 05:58:19.423+00'),
	('01a220bb-6258-766f-9d8c-538e536ac8d5', '01a220bb-624f-77ed-810b-9049d1a1167c', 'minute', '2026-11-28 05:58:00+00', 'listPets', false, 3, 0, 4, 0, 4, '2026-11-28 05:58:21.028+00'),
	('01a220bb-6258-766f-9d8c-538e536ac8d5', '01a220bb-624f-77ed-810b-9049d1a1167c', 'hour', '2026-11-28 05:00:00+00', 'listPets', false, 3, 0, 4, 0, 4, '2026-11-28 05:58:21.028+00'),
	('01a220bb-6258-766f-9d8c-538e536ac8d5', '01a220bb-624f-77ed-810b-9049d1a1167c', 'day', '2026-11-28 00:00:00+00', 'listPets', false, 3, 0, 4, 0, 4, '2026-11-28 05:58:21.028+00'),
	('01a220bb-6317-77db-8d9d-1943998ab7ad', '01a220bb-6312-731d-9080-e85b5ff43775', 'minute', '2026-11-28 05:58:00+00', 'listPets', false, 8, 0, 0, 0, 0, '2026-11-28 05:58:19.473+00'),
	('01a220bb-6317-77db-8d9d-1943998ab7ad', '01a220bb-6312-731d-9080-e85b5ff43775', 'hour', '2026-11-28 05:00:00+00', 'listPets', false, 8, 0, 0, 0, 0, '2026-11-28 05:58:19.473+00'),
	('01a220bb-6317-77db-8d9d-1943998ab7ad', '01a220bb-6312-731d-9080-e85b5ff43775', 'day', '2026-11-28 00:00:00+00', 'listPets', false, 8, 0, 0, 0, 0, '2026-11-28 05:58:19.473+00'),
	('01a220bb-6373-779f-9663-0336e0cc31ff', '01a220bb-636e-7379-afc8-7f6e4a7d38fa', 'minute', '2026-11-28 05:58:00+00', 'listPets', false, 5, 0, 0, 0, 0, '2026-11-28 05:58:19.495+00'),
	('01a220bb-6373-779f-9663-0336e0cc31ff', '01a220bb-636e-7379-afc8-7f6e4a7d38fa', 'hour', '2026-11-28 05:00:00+00', 'listPets', false, 5, 0, 0, 0, 0, '2026-11-28 05:58:19.495+00'),
	('01a220bb-6373-779f-9663-0336e0cc31ff', '01a220bb-636e-7379-afc8-7f6e4a7d38fa', 'day', '2026-11-28 00:00:00+00', 'listPets', false, 5, 0, 0, 0, 0, '2026-11-28 05:58:19.495+00'),
	('01a220bb-6444-73e6-bc8f-53a47a30f388', '01a220bb-6422-7420-b989-93065e1e5a0a', 'minute', '2026-11-28 05:58:00+00', 'listPets', false, 1, 0, 0, 0, 0, '2026-11-28 05:58:19.43+00'),
	('01a220bb-5cd4-71e9-ad27-2786ffa3386b', '01a220bb-5c87-734a-aea9-1b5a3b23d1c0', 'hour', '2026-11-28 05:00:00+00', 'listPets', false, 14, 0, 1, 0, 1, '2026-11-28 05:58:22.499+00'),
	('01a220bb-5cd4-71e9-ad27-2786ffa3386b', '01a220bb-5c87-734a-aea9-1b5a3b23d1c0', 'day', '2026-11-28 00:00:00+00', 'listPets', false, 14, 0, 1, 0, 1, '2026-11-28 05:58:22.499+00'),
	('01a220bb-61cc-7292-8fa6-b269dabf633d', '01a220bb-61ba-76be-bead-db2ad848e979', 'minute', '2026-11-28 05:58:00+00', 'listPets', false, 3, 0, 11, 0, 11, '2026-11-28 05:58:22.448+00'),
	('01a220bb-61cc-7292-8fa6-b269dabf633d', '01a220bb-61ba-76be-bead-db2ad848e979', 'hour', '2026-11-28 05:00:00+00', 'listPets', false, 3, 0, 11, 0, 11, '2026-11-28 05:58:22.448+00'),
	('01a220bb-61cc-7292-8fa6-b269dabf633d', '01a220bb-61ba-76be-bead-db2ad848e979', 'day', '2026-11-28 00:00:00+00', 'listPets', false, 3, 0, 11, 0, 11, '2026-11-28 05:58:22.448+00'),
	('01a220bb-62c1-758e-b60c-0156278067d4', '01a220bb-62b7-7659-8439-e6d6e8bbf166', 'minute', '2026-11-28 05:58:00+00', 'listPets', false, 2, 0, 7, 0, 7, '2026-11-28 05:58:22.424+00'),
	('01a220bb-62c1-758e-b60c-0156278067d4', '01a220bb-62b7-7659-8439-e6d6e8bbf166', 'hour', '2026-11-28 05:00:00+00', 'listPets', false, 2, 0, 7, 0, 7, '2026-11-28 05:58:22.424+00'),
	('01a220bb-62c1-758e-b60c-0156278067d4', '01a220bb-62b7-7659-8439-e6d6e8bbf166', 'day', '2026-11-28 00:00:00+00', 'listPets', false, 2, 0, 7, 0, 7, '2026-11-28 05:58:22.424+00'),
	('01a220bb-6444-73e6-bc8f-53a47a30f388', '01a220bb-6422-7420-b989-93065e1e5a0a', 'hour', '2026-11-28 05:00:00+00', 'listPets', false, 1, 0, 0, 0, 0, '2026-11-28 05:58:19.43+00'),
	('01a220bb-6444-73e6-bc8f-53a47a30f388', '01a220bb-6422-7420-b989-93065e1e5a0a', 'day', '2026-11-28 00:00:00+00', 'listPets', false, 1, 0, 0, 0, 0, '2026-11-28 05:58:19.43+00'),
	('01a220bb-6599-72ed-90ae-38f498d016f0', '01a220bb-6594-7295-8bde-e572931bbbed', 'minute', '2026-11-28 05:58:00+00', 'getPet', true, 1, 0, 0, 0, 0, '2026-11-28 05:58:19.352+00'),
	('01a220bb-6599-72ed-90ae-38f498d016f0', '01a220bb-6594-7295-8bde-e572931bbbed', 'hour', '2026-11-28 05:00:00+00', 'getPet', true, 1, 0, 0, 0, 0, '2026-11-28 05:58:19.352+00'),
	('01a220bb-6599-72ed-90ae-38f498d016f0', '01a220bb-6594-7295-8bde-e572931bbbed', 'day', '2026-11-28 00:00:00+00', 'getPet', true, 1, 0, 0, 0, 0, '2026-11-28 05:58:19.352+00'),
	('01a220bb-6a28-7419-90d4-5a3a9351e467', '01a220bb-6594-7295-8bde-e572931bbbed', 'minute', '2026-11-28 05:58:00+00', 'listPets', false, 1, 0, 0, 0, 0, '2026-11-28 05:58:19.416+00'),
	('01a220bb-6a28-7419-90d4-5a3a9351e467', '01a220bb-6594-7295-8bde-e572931bbbed', 'hour', '2026-11-28 05:00:00+00', 'listPets', false, 1, 0, 0, 0, 0, '2026-11-28 05:58:19.416+00'),
	('01a220bb-6a28-7419-90d4-5a3a9351e467', '01a220bb-6594-7295-8bde-e572931bbbed', 'day', '2026-11-28 00:00:00+00', 'listPets', false, 1, 0, 0, 0, 0, '2026-11-28 05:58:19.416+00'),
	('01a220bb-6b30-714b-b591-9e21b4021e8e', '01a220bb-65d6-77ea-8a6e-2e99a0c66ded', 'minute', '2026-11-28 05:58:00+00', 'listPets', false, 1, 0, 0, 0, 0, '2026-11-28 05:58:19.434+00'),
	('01a220bb-6b30-714b-b591-9e21b4021e8e', '01a220bb-65d6-77ea-8a6e-2e99a0c66ded', 'hour', '2026-11-28 05:00:00+00', 'listPets', false, 1, 0, 0, 0, 0, '2026-11-28 05:58:19.434+00'),
	('01a220bb-6b30-714b-b591-9e21b4021e8e', '01a220bb-65d6-77ea-8a6e-2e99a0c66ded', 'day', '2026-11-28 00:00:00+00', 'listPets', false, 1, 0, 0, 0, 0, '2026-11-28 05:58:19.434+00'),
	('01a220bb-32c2-7626-868d-b6a9ed56b551', '01a220bb-32b9-7046-8ce5-e6f8c22494e5', 'minute', '2026-11-28 05:58:00+00', 'getHealth', false, 1, 0, 0, 0, 0, '2026-11-28 05:58:22.872+00'),
	('01a220bb-32c2-7626-868d-b6a9ed56b551', '01a220bb-32b9-7046-8ce5-e6f8c22494e5', 'minute', '2026-11-28 05:58:00+00', 'getKey', false, 1, 0, 0, 0, 0, '2026-11-28 05:58:22.617+00'),
	('01a220bb-32c2-7626-868d-b6a9ed56b551', '01a220bb-32b9-7046-8ce5-e6f8c22494e5', 'minute', '2026-11-28 05:58:00+00', 'getKeyRateLimit', false, 1, 0, 0, 0, 0, '2026-11-28 05:58:22.664+00'),
	('01a220bb-32c2-7626-868d-b6a9ed56b551', '01a220bb-32b9-7046-8ce5-e6f8c22494e5', 'minute', '2026-11-28 05:58:00+00', 'getPlan', false, 1, 0, 0, 0, 0, '2026-11-28 05:58:22.688+00'),
	('01a220bb-32c2-7626-868d-b6a9ed56b551', '01a220bb-32b9-7046-8ce5-e6f8c22494e5', 'minute', '2026-11-28 05:58:00+00', 'getWhatIf', false, 1, 0, 0, 0, 0, '2026-11-28 05:58:22.714+00'),
	('01a220bb-32c2-7626-868d-b6a9ed56b551', '01a220bb-32b9-7046-8ce5-e6f8c22494e5', 'minute', '2026-11-28 05:58:00+00', 'listAudit', false, 1, 0, 0, 0, 0, '2026-11-28 05:58:22.813+00'),
	('01a220bb-32c2-7626-868d-b6a9ed56b551', '01a220bb-32b9-7046-8ce5-e6f8c22494e5', 'minute', '2026-11-28 05:58:00+00', 'listDeprecatedCalls', false, 1, 0, 0, 0, 0, '2026-11-28 05:58:22.734+00'),
	('01a220bb-32c2-7626-868d-b6a9ed56b551', '01a220bb-32b9-7046-8ce5-e6f8c22494e5', 'minute', '2026-11-28 05:58:00+00', 'listKeys', false, 1, 0, 0, 0, 0, '2026-11-28 05:58:22.551+00'),
	('01a220bb-32c2-7626-868d-b6a9ed56b551', '01a220bb-32b9-7046-8ce5-e6f8c22494e5', 'minute', '2026-11-28 05:58:00+00', 'listPlans', false, 1, 0, 0, 0, 0, '2026-11-28 05:58:22.677+00'),
	('01a220bb-32c2-7626-868d-b6a9ed56b551', '01a220bb-32b9-7046-8ce5-e6f8c22494e5', 'minute', '2026-11-28 05:58:00+00', 'listTopKeys', false, 1, 0, 0, 0, 0, '2026-11-28 05:58:22.759+00'),
	('01a220bb-32c2-7626-868d-b6a9ed56b551', '01a220bb-32b9-7046-8ce5-e6f8c22494e5', 'minute', '2026-11-28 05:58:00+00', 'listUsageByOperation', false, 1, 0, 0, 0, 0, '2026-11-28 05:58:22.772+00'),
	('01a220bb-32c2-7626-868d-b6a9ed56b551', '01a220bb-32b9-7046-8ce5-e6f8c22494e5', 'minute', '2026-11-28 05:58:00+00', 'listUsageOfKey', false, 1, 0, 0, 0, 0, '2026-11-28 05:58:22.705+00'),
	('01a220bb-32c2-7626-868d-b6a9ed56b551', '01a220bb-32b9-7046-8ce5-e6f8c22494e5', 'minute', '2026-11-28 05:58:00+00', 'listUsageTotals', false, 1, 0, 0, 0, 0, '2026-11-28 05:58:22.75+00'),
	('01a220bb-32c2-7626-868d-b6a9ed56b551', '01a220bb-32b9-7046-8ce5-e6f8c22494e5', 'minute', '2026-11-28 05:58:00+00', 'listWebhooks', false, 1, 0, 0, 0, 0, '2026-11-28 05:58:22.843+00'),
	('01a220bb-32c2-7626-868d-b6a9ed56b551', '01a220bb-32b9-7046-8ce5-e6f8c22494e5', 'minute', '2026-11-28 05:58:00+00', 'resendWebhookDelivery', false, 1, 0, 0, 0, 0, '2026-11-28 05:58:55.937+00'),
	('01a220bb-32c2-7626-868d-b6a9ed56b551', '01a220bb-32b9-7046-8ce5-e6f8c22494e5', 'minute', '2026-11-28 05:58:00+00', 'suggestScopes', false, 1, 0, 0, 0, 0, '2026-11-28 05:58:22.792+00'),
	('01a220bb-32c2-7626-868d-b6a9ed56b551', '01a220bb-32b9-7046-8ce5-e6f8c22494e5', 'minute', '2026-11-28 05:58:00+00', 'unbanKey', false, 1, 0, 0, 0, 0, '2026-11-28 05:58:22.505+00'),
	('01a220bb-32c2-7626-868d-b6a9ed56b551', '01a220bb-32b9-7046-8ce5-e6f8c22494e5', 'hour', '2026-11-28 05:00:00+00', 'getHealth', false, 1, 0, 0, 0, 0, '2026-11-28 05:58:22.872+00'),
	('01a220bb-32c2-7626-868d-b6a9ed56b551', '01a220bb-32b9-7046-8ce5-e6f8c22494e5', 'hour', '2026-11-28 05:00:00+00', 'getKey', false, 1, 0, 0, 0, 0, '2026-11-28 05:58:22.617+00'),
	('01a220bb-32c2-7626-868d-b6a9ed56b551', '01a220bb-32b9-7046-8ce5-e6f8c22494e5', 'hour', '2026-11-28 05:00:00+00', 'getKeyRateLimit', false, 1, 0, 0, 0, 0, '2026-11-28 05:58:22.664+00'),
	('01a220bb-32c2-7626-868d-b6a9ed56b551', '01a220bb-32b9-7046-8ce5-e6f8c22494e5', 'hour', '2026-11-28 05:00:00+00', 'getPlan', false, 1, 0, 0, 0, 0, '2026-11-28 05:58:22.688+00'),
	('01a220bb-32c2-7626-868d-b6a9ed56b551', '01a220bb-32b9-7046-8ce5-e6f8c22494e5', 'hour', '2026-11-28 05:00:00+00', 'getWhatIf', false, 1, 0, 0, 0, 0, '2026-11-28 05:58:22.714+00'),
	('01a220bb-32c2-7626-868d-b6a9ed56b551', '01a220bb-32b9-7046-8ce5-e6f8c22494e5', 'hour', '2026-11-28 05:00:00+00', 'listAudit', false, 1, 0, 0, 0, 0, '2026-11-28 05:58:22.813+00'),
	('01a220bb-32c2-7626-868d-b6a9ed56b551', '01a220bb-32b9-7046-8ce5-e6f8c22494e5', 'hour', '2026-11-28 05:00:00+00', 'listDeprecatedCalls', false, 1, 0, 0, 0, 0, '2026-11-28 05:58:22.734+00'),
	('01a220bb-32c2-7626-868d-b6a9ed56b551', '01a220bb-32b9-7046-8ce5-e6f8c22494e5', 'hour', '2026-11-28 05:00:00+00', 'listKeys', false, 1, 0, 0, 0, 0, '2026-11-28 05:58:22.551+00'),
	('01a220bb-32c2-7626-868d-b6a9ed56b551', '01a220bb-32b9-7046-8ce5-e6f8c22494e5', 'hour', '2026-11-28 05:00:00+00', 'listPlans', false, 1, 0, 0, 0, 0, '2026-11-28 05:58:22.677+00'),
	('01a220bb-32c2-7626-868d-b6a9ed56b551', '01a220bb-32b9-7046-8ce5-e6f8c22494e5', 'hour', '2026-11-28 05:00:00+00', 'listTopKeys', false, 1, 0, 0, 0, 0, '2026-11-28 05:58:22.759+00'),
	('01a220bb-32c2-7626-868d-b6a9ed56b551', '01a220bb-32b9-7046-8ce5-e6f8c22494e5', 'hour', '2026-11-28 05:00:00+00', 'listUsageByOperation', false, 1, 0, 0, 0, 0, '2026-11-28 05:58:22.772+00'),
	('01a220bb-32c2-7626-868d-b6a9ed56b551', '01a220bb-32b9-7046-8ce5-e6f8c22494e5', 'hour', '2026-11-28 05:00:00+00', 'listUsageOfKey', false, 1, 0, 0, 0, 0, '2026-11-28 05:58:22.705+00'),
	('01a220bb-32c2-7626-868d-b6a9ed56b551', '01a220bb-32b9-7046-8ce5-e6f8c22494e5', 'hour', '2026-11-28 05:00:00+00', 'listUsageTotals', false, 1, 0, 0, 0, 0, '2026-11-28 05:58:22.75+00'),
	('01a220bb-32c2-7626-868d-b6a9ed56b551', '01a220bb-32b9-7046-8ce5-e6f8c22494e5', 'hour', '2026-11-28 05:00:00+00', 'listWebhooks', false, 1, 0, 0, 0, 0, '2026-11-28 05:58:22.843+00'),
	('01a220bb-32c2-7626-868d-b6a9ed56b551', '01a220bb-32b9-7046-8ce5-e6f8c22494e5', 'hour', '2026-11-28 05:00:00+00', 'resendWebhookDelivery', false, 1, 0, 0, 0, 0, '2026-11-28 05:58:55.937+00'),
	('01a220bb-32c2-7626-868d-b6a9ed56b551', '01a220bb-32b9-7046-8ce5-e6f8c22494e5', 'hour', '2026-11-28 05:00:00+00', 'suggestScopes', false, 1, 0, 0, 0, 0, '2026-11-28 05:58:22.792+00'),
	('01a220bb-32c2-7626-868d-b6a9ed56b551', '01a220bb-32b9-7046-8ce5-e6f8c22494e5', 'hour', '2026-11-28 05:00:00+00', 'unbanKey', false, 1, 0, 0, 0, 0, '2026-11-28 05:58:22.505+00'),
	('01a220bb-32c2-7626-868d-b6a9ed56b551', '01a220bb-32b9-7046-8ce5-e6f8c22494e5', 'minute', '2026-11-28 05:58:00+00', 'listUsage', false, 2, 0, 0, 0, 0, '2026-11-28 05:58:57.5+00'),
	('01a220bb-32c2-7626-868d-b6a9ed56b551', '01a220bb-32b9-7046-8ce5-e6f8c22494e5', 'minute', '2026-11-28 05:58:00+00', 'listWebhookDeliveries', false, 3, 0, 0, 0, 0, '2026-11-28 05:58:57.47+00'),
	('01a220bb-32c2-7626-868d-b6a9ed56b551', '01a220bb-32b9-7046-8ce5-e6f8c22494e5', 'hour', '2026-11-28 05:00:00+00', 'listUsage', false, 2, 0, 0, 0, 0, '2026-11-28 05:58:57.5+00'),
	('01a220bb-32c2-7626-868d-b6a9ed56b551', '01a220bb-32b9-7046-8ce5-e6f8c22494e5', 'hour', '2026-11-28 05:00:00+00', 'listWebhookDeliveries', false, 3, 0, 0, 0, 0, '2026-11-28 05:58:57.47+00'),
	('01a220bb-32c2-7626-868d-b6a9ed56b551', '01a220bb-32b9-7046-8ce5-e6f8c22494e5', 'day', '2026-11-28 00:00:00+00', 'getHealth', false, 1, 0, 0, 0, 0, '2026-11-28 05:58:22.872+00'),
	('01a220bb-32c2-7626-868d-b6a9ed56b551', '01a220bb-32b9-7046-8ce5-e6f8c22494e5', 'day', '2026-11-28 00:00:00+00', 'getKey', false, 1, 0, 0, 0, 0, '2026-11-28 05:58:22.617+00'),
	('01a220bb-32c2-7626-868d-b6a9ed56b551', '01a220bb-32b9-7046-8ce5-e6f8c22494e5', 'day', '2026-11-28 00:00:00+00', 'getKeyRateLimit', false, 1, 0, 0, 0, 0, '2026-11-28 05:58:22.664+00'),
	('01a220bb-32c2-7626-868d-b6a9ed56b551', '01a220bb-32b9-7046-8ce5-e6f8c22494e5', 'day', '2026-11-28 00:00:00+00', 'getPlan', false, 1, 0, 0, 0, 0, '2026-11-28 05:58:22.688+00'),
	('01a220bb-32c2-7626-868d-b6a9ed56b551', '01a220bb-32b9-7046-8ce5-e6f8c22494e5', 'day', '2026-11-28 00:00:00+00', 'getWhatIf', false, 1, 0, 0, 0, 0, '2026-11-28 05:58:22.714+00'),
	('01a220bb-32c2-7626-868d-b6a9ed56b551', '01a220bb-32b9-7046-8ce5-e6f8c22494e5', 'day', '2026-11-28 00:00:00+00', 'listAudit', false, 1, 0, 0, 0, 0, '2026-11-28 05:58:22.813+00'),
	('01a220bb-32c2-7626-868d-b6a9ed56b551', '01a220bb-32b9-7046-8ce5-e6f8c22494e5', 'day', '2026-11-28 00:00:00+00', 'listDeprecatedCalls', false, 1, 0, 0, 0, 0, '2026-11-28 05:58:22.734+00'),
	('01a220bb-32c2-7626-868d-b6a9ed56b551', '01a220bb-32b9-7046-8ce5-e6f8c22494e5', 'day', '2026-11-28 00:00:00+00', 'listKeys', false, 1, 0, 0, 0, 0, '2026-11-28 05:58:22.551+00'),
	('01a220bb-32c2-7626-868d-b6a9ed56b551', '01a220bb-32b9-7046-8ce5-e6f8c22494e5', 'day', '2026-11-28 00:00:00+00', 'listPlans', false, 1, 0, 0, 0, 0, '2026-11-28 05:58:22.677+00'),
	('01a220bb-32c2-7626-868d-b6a9ed56b551', '01a220bb-32b9-7046-8ce5-e6f8c22494e5', 'day', '2026-11-28 00:00:00+00', 'listTopKeys', false, 1, 0, 0, 0, 0, '2026-11-28 05:58:22.759+00'),
	('01a220bb-32c2-7626-868d-b6a9ed56b551', '01a220bb-32b9-7046-8ce5-e6f8c22494e5', 'day', '2026-11-28 00:00:00+00', 'listUsageByOperation', false, 1, 0, 0, 0, 0, '2026-11-28 05:58:22.772+00'),
	('01a220bb-32c2-7626-868d-b6a9ed56b551', '01a220bb-32b9-7046-8ce5-e6f8c22494e5', 'day', '2026-11-28 00:00:00+00', 'listUsageOfKey', false, 1, 0, 0, 0, 0, '2026-11-28 05:58:22.705+00'),
	('01a220bb-32c2-7626-868d-b6a9ed56b551', '01a220bb-32b9-7046-8ce5-e6f8c22494e5', 'day', '2026-11-28 00:00:00+00', 'listUsageTotals', false, 1, 0, 0, 0, 0, '2026-11-28 05:58:22.75+00'),
	('01a220bb-32c2-7626-868d-b6a9ed56b551', '01a220bb-32b9-7046-8ce5-e6f8c22494e5', 'day', '2026-11-28 00:00:00+00', 'listWebhooks', false, 1, 0, 0, 0, 0, '2026-11-28 05:58:22.843+00'),
	('01a220bb-32c2-7626-868d-b6a9ed56b551', '01a220bb-32b9-7046-8ce5-e6f8c22494e5', 'day', '2026-11-28 00:00:00+00', 'resendWebhookDelivery', false, 1, 0, 0, 0, 0, '2026-11-28 05:58:55.937+00'),
	('01a220bb-32c2-7626-868d-b6a9ed56b551', '01a220bb-32b9-7046-8ce5-e6f8c22494e5', 'day', '2026-11-28 00:00:00+00', 'suggestScopes', false, 1, 0, 0, 0, 0, '2026-11-28 05:58:22.792+00'),
	('01a220bb-32c2-7626-868d-b6a9ed56b551', '01a220bb-32b9-7046-8ce5-e6f8c22494e5', 'day', '2026-11-28 00:00:00+00', 'unbanKey', false, 1, 0, 0, 0, 0, '2026-11-28 05:58:22.505+00'),
	('01a220bb-661e-72a8-aceb-d2316279dd01', '01a220bb-6618-761a-bd00-accf849adde8', 'minute', '2026-11-28 05:58:00+00', 'listKeys', false, 1, 0, 0, 0, 0, '2026-11-28 05:58:22.886+00'),
	('01a220bb-661e-72a8-aceb-d2316279dd01', '01a220bb-6618-761a-bd00-accf849adde8', 'hour', '2026-11-28 05:00:00+00', 'listKeys', false, 1, 0, 0, 0, 0, '2026-11-28 05:58:22.886+00'),
	('01a220bb-661e-72a8-aceb-d2316279dd01', '01a220bb-6618-761a-bd00-accf849adde8', 'day', '2026-11-28 00:00:00+00', 'listKeys', false, 1, 0, 0, 0, 0, '2026-11-28 05:58:22.886+00'),
	('01a220bb-5cd4-71e9-ad27-2786ffa3386b', '01a220bb-5c87-734a-aea9-1b5a3b23d1c0', 'day', '2026-11-27 00:00:00+00', 'createOrder', false, 3, 0, 0, 0, 0, '2026-11-27 05:58:19.13+00'),
	('01a220bb-5cd4-71e9-ad27-2786ffa3386b', '01a220bb-5c87-734a-aea9-1b5a3b23d1c0', 'day', '2026-11-26 00:00:00+00', 'createOrder', false, 3, 0, 0, 0, 0, '2026-11-26 05:58:19.13+00'),
	('01a220bb-5cd4-71e9-ad27-2786ffa3386b', '01a220bb-5c87-734a-aea9-1b5a3b23d1c0', 'day', '2026-11-27 00:00:00+00', 'createPet', false, 5, 0, 1, 0, 0, '2026-11-27 05:58:19.386+00'),
	('01a220bb-5cd4-71e9-ad27-2786ffa3386b', '01a220bb-5c87-734a-aea9-1b5a3b23d1c0', 'day', '2026-11-26 00:00:00+00', 'createPet', false, 5, 0, 1, 0, 0, '2026-11-26 05:58:19.386+00'),
	('01a220bb-5cd4-71e9-ad27-2786ffa3386b', '01a220bb-5c87-734a-aea9-1b5a3b23d1c0', 'day', '2026-11-27 00:00:00+00', 'getOwnKey', false, 1, 0, 0, 0, 0, '2026-11-27 05:58:19.226+00'),
	('01a220bb-5cd4-71e9-ad27-2786ffa3386b', '01a220bb-5c87-734a-aea9-1b5a3b23d1c0', 'day', '2026-11-26 00:00:00+00', 'getOwnKey', false, 1, 0, 0, 0, 0, '2026-11-26 05:58:19.226+00'),
	('01a220bb-5cd4-71e9-ad27-2786ffa3386b', '01a220bb-5c87-734a-aea9-1b5a3b23d1c0', 'day', '2026-11-27 00:00:00+00', 'getPet', true, 1, 0, 1, 0, 0, '2026-11-27 05:58:19.36+00'),
	('01a220bb-5cd4-71e9-ad27-2786ffa3386b', '01a220bb-5c87-734a-aea9-1b5a3b23d1c0', 'day', '2026-11-26 00:00:00+00', 'getPet', true, 1, 0, 1, 0, 0, '2026-11-26 05:58:19.36+00'),
	('01a220bb-5cd4-71e9-ad27-2786ffa3386b', '01a220bb-5c87-734a-aea9-1b5a3b23d1c0', 'day', '2026-11-27 00:00:00+00', 'getRateLimit', false, 1, 0, 0, 0, 0, '2026-11-27 05:58:19.201+00'),
	('01a220bb-5cd4-71e9-ad27-2786ffa3386b', '01a220bb-5c87-734a-aea9-1b5a3b23d1c0', 'day', '2026-11-26 00:00:00+00', 'getRateLimit', false, 1, 0, 0, 0, 0, '2026-11-26 05:58:19.201+00'),
	('01a220bb-5cd4-71e9-ad27-2786ffa3386b', '01a220bb-5c87-734a-aea9-1b5a3b23d1c0', 'day', '2026-11-27 00:00:00+00', 'listOrders', false, 1, 0, 0, 0, 0, '2026-11-27 05:58:19.176+00'),
	('01a220bb-5cd4-71e9-ad27-2786ffa3386b', '01a220bb-5c87-734a-aea9-1b5a3b23d1c0', 'day', '2026-11-26 00:00:00+00', 'listOrders', false, 1, 0, 0, 0, 0, '2026-11-26 05:58:19.176+00'),
	('01a220bb-5cd4-71e9-ad27-2786ffa3386b', '01a220bb-5c87-734a-aea9-1b5a3b23d1c0', 'day', '2026-11-27 00:00:00+00', 'listOwnDeprecatedCalls', false, 1, 0, 0, 0, 0, '2026-11-27 05:58:19.338+00'),
	('01a220bb-5cd4-71e9-ad27-2786ffa3386b', '01a220bb-5c87-734a-aea9-1b5a3b23d1c0', 'day', '2026-11-26 00:00:00+00', 'listOwnDeprecatedCalls', false, 1, 0, 0, 0, 0, '2026-11-26 05:58:19.338+00'),
	('01a220bb-5cd4-71e9-ad27-2786ffa3386b', '01a220bb-5c87-734a-aea9-1b5a3b23d1c0', 'day', '2026-11-27 00:00:00+00', 'listOwnUsage', false, 1, 0, 0, 0, 0, '2026-11-27 05:58:19.324+00'),
	('01a220bb-5cd4-71e9-ad27-2786ffa3386b', '01a220bb-5c87-734a-aea9-1b5a3b23d1c0', 'day', '2026-11-26 00:00:00+00', 'listOwnUsage', false, 1, 0, 0, 0, 0, '2026-11-26 05:58:19.324+00'),
	('01a220bb-5cd4-71e9-ad27-2786ffa3386b', '01a220bb-5c87-734a-aea9-1b5a3b23d1c0', 'day', '2026-11-27 00:00:00+00', 'listPets', false, 14, 0, 1, 0, 1, '2026-11-27 05:58:22.499+00'),
	('01a220bb-5cd4-71e9-ad27-2786ffa3386b', '01a220bb-5c87-734a-aea9-1b5a3b23d1c0', 'day', '2026-11-26 00:00:00+00', 'listPets', false, 14, 0, 1, 0, 1, '2026-11-26 05:58:22.499+00'),
	('01a220bb-5cd4-71e9-ad27-2786ffa3386b', '01a220bb-5c87-734a-aea9-1b5a3b23d1c0', 'day', '2026-11-27 00:00:00+00', 'none', false, 0, 0, 1, 0, 0, '2026-11-27 05:58:19.379+00'),
	('01a220bb-5cd4-71e9-ad27-2786ffa3386b', '01a220bb-5c87-734a-aea9-1b5a3b23d1c0', 'day', '2026-11-26 00:00:00+00', 'none', false, 0, 0, 1, 0, 0, '2026-11-26 05:58:19.379+00'),
	('01a220bb-32c2-7626-868d-b6a9ed56b551', '01a220bb-32b9-7046-8ce5-e6f8c22494e5', 'day', '2026-11-28 00:00:00+00', 'listUsage', false, 2, 0, 0, 0, 0, '2026-11-28 05:58:57.5+00'),
	('01a220bb-32c2-7626-868d-b6a9ed56b551', '01a220bb-32b9-7046-8ce5-e6f8c22494e5', 'day', '2026-11-28 00:00:00+00', 'listWebhookDeliveries', false, 3, 0, 0, 0, 0, '2026-11-28 05:58:57.47+00');

INSERT INTO public.usage_batches VALUES
	('8e586fcb-5f72-4d5b-9da3-b9780cf2a0a8', '2026-11-28 05:57:58.725+00', 0, '[]'),
	('c0410d21-b57a-4cfe-9435-501da471c4ef', '2026-11-28 05:57:59.234+00', 0, '[]'),
	('30f2c5c5-999b-4084-9a6d-0d94ca1b76ee', '2026-11-28 05:57:59.957+00', 0, '[]'),
	('147246a6-5da9-4df7-b986-b935b26e0396', '2026-11-28 05:58:00.414+00', 0, '[]'),
	('3b561f30-8bfb-4135-9353-9df7c7dbb9e1', '2026-11-28 05:58:00.946+00', 0, '[]'),
	('5204f7b5-a07e-435e-a144-997256b5570b', '2026-11-28 05:58:01.434+00', 0, '[]'),
	('f5fd1c3a-4d78-4de1-be7a-0f4051d3e9f2', '2026-11-28 05:58:01.936+00', 0, '[]'),
	('640fae90-5b35-454e-8e27-d2bd7dfbc74e', '2026-11-28 05:58:02.586+00', 0, '[]'),
	('170b040f-7af0-4aaa-bb5c-8280bfc17337', '2026-11-28 05:58:03.093+00', 0, '[]'),
	('5a354260-07bf-486a-9496-368a4b33ef2e', '2026-11-28 05:58:03.597+00', 0, '[]'),
	('6223be36-833f-46b5-adbe-5cee1e0d270c', '2026-11-28 05:58:04.098+00', 0, '[]'),
	('d6185b1c-6d91-4abd-8e68-470636c34b17', '2026-11-28 05:58:11.212+00', 0, '[]'),
	('d5becf30-509f-41c5-ab0c-ea29e0e3746b', '2026-11-28 05:58:19.385+00', 0, '[]'),
	('3388a0e9-2e84-4935-8375-ed20ce2570a5', '2026-11-28 05:58:19.886+00', 0, '[]'),
	('b265def5-928d-40f2-baa9-5536416afa41', '2026-11-28 05:58:21.389+00', 0, '[]'),
	('2ecd0d04-c94d-4e74-8cb2-e45b4f34bebd', '2026-11-28 05:58:22.893+00', 0, '[]'),
	('af2238bb-82bb-4539-a123-f6c03f501ba3', '2026-11-28 05:58:23.394+00', 0, '[]'),
	('727a0443-ba85-4959-ad14-5696c7f615a1', '2026-11-28 05:58:55.969+00', 0, '[]'),
	('61ee34ec-2eed-4ffe-92c7-e623dc21546c', '2026-11-28 05:58:57.968+00', 0, '[]'),
	('92f73d27-0307-4727-b64b-c576ccae6646', '2026-11-28 05:59:01.968+00', 11, '[{"keyId":"01a220bb-5cd4-71e9-ad27-2786ffa3386b","quotaId":"01a220bb-5c87-734a-aea9-1b5a3b23d1c0","minute":29930759,"operation":"listPets","deprecated":false,"succeeded":3,"redirected":0,"clientErrors":0,"serverErrors":0,"refusals":0,"lastAtMs":1795845541678},{"keyId":"01a220bb-60d0-7319-aa4b-fb4d8892b1c3","quotaId":"01a220bb-60bb-71c9-8a9a-a602d9588458","minute":29930759,"operation":"listPets","deprecated":false,"succeeded":1,"redirected":0,"clientErrors":0,"serverErrors":0,"refusals":0,"lastAtMs":1795845541555},{"keyId":"01a220bb-60d0-7319-aa4b-fb4d8892b1c3","quotaId":"01a220bb-60bb-71c9-8a9a-a602d9588458","minute":29930759,"operation":"getPet","deprecated":true,"succeeded":1,"redirected":0,"clientErrors":0,"serverErrors":0,"refusals":0,"lastAtMs":1795845541561},{"keyId":"01a220bb-5cd4-71e9-ad27-2786ffa3386b","quotaId":"01a220bb-5c87-734a-aea9-1b5a3b23d1c0","minute":29930759,"operation":"getOwnKey","deprecated":false,"succeeded":2,"redirected":0,"clientErrors":0,"serverErrors":0,"refusals":0,"lastAtMs":1795845541620},{"keyId":"01a220bb-32c2-7626-868d-b6a9ed56b551","quotaId":"01a220bb-32b9-7046-8ce5-e6f8c22494e5","minute":29930759,"operation":"listTopKeys","deprecated":false,"succeeded":1,"redirected":0,"clientErrors":0,"serverErrors":0,"refusals":0,"lastAtMs":1795845541600},{"keyId":"01a220bb-32c2-7626-868d-b6a9ed56b551","quotaId":"01a220bb-32b9-7046-8ce5-e6f8c22494e5","minute":29930759,"operation":"changePlan","deprecated":false,"succeeded":1,"redirected":0,"clientErrors":0,"serverErrors":0,"refusals":0,"lastAtMs":1795845541628},{"keyId":"01a220bb-5cd4-71e9-ad27-2786ffa3386b","quotaId":"01a220bb-5c87-734a-aea9-1b5a3b23d1c0","minute":29930759,"operation":"listOrders","deprecated":false,"succeeded":2,"redirected":0,"clientErrors":0,"serverErrors":0,"refusals":0,"lastAtMs":1795845541692},{"keyId":"01a220bb-32c2-7626-868d-b6a9ed56b551","quotaId":"01a220bb-32b9-7046-8ce5-e6f8c22494e5","minute":29930759,"operation":"listKeys","deprecated":false,"succeeded":2,"redirected":0,"clientErrors":0,"serverErrors":0,"refusals":0,"lastAtMs":1795845541717},{"keyId":"01a220bb-32c2-7626-868d-b6a9ed56b551","quotaId":"01a220bb-32b9-7046-8ce5-e6f8c22494e5","minute":29930759,"operation":"listAudit","deprecated":false,"succeeded":2,"redirected":0,"clientErrors":0,"serverErrors":0,"refusals":0,"lastAtMs":1795845541741},{"keyId":"01a220bb-32c2-7626-868d-b6a9ed56b551","quotaId":"01a220bb-32b9-7046-8ce5-e6f8c22494e5","minute":29930759,"operation":"listWebhookDeliveries","deprecated":false,"succeeded":2,"redirected":0,"clientErrors":0,"serverErrors":0,"refusals":0,"lastAtMs":1795845541796},{"keyId":"01a220bb-63cd-72ae-962d-9c449b707c1a","quotaId":"01a220bb-63c5-726c-9b34-5c74441ba05a","minute":29930759,"operation":"listPets","deprecated":false,"succeeded":3,"redirected":0,"clientErrors":1,"serverErrors":0,"refusals":1,"lastAtMs":1795845541837}]');

INSERT INTO public.webhook_deliveries VALUES
	('01a220bb-6b47-7077-9159-45908f0e4bd0', '01a220bb-5734-7638-9980-6f517b027804', 'key.rotated', 'key.rotated:01a220bb-65dc-7491-968b-a0b023664bd0', '{"type":"key.rotated","timestamp":"2026-11-28T05:58:03.335Z","data":{"keyId":"01a220bb-65dc-7491-968b-a0b023664bd0","name":"rotated by its holder","quotaId":"01a220bb-65d6-77ea-8a6e-2e99a0c66ded","expiresAt":"2026-12-28T05:58:03.294Z","successorId":"01a220bb-6b30-714b-b591-9e21b4021e8e"}}', 'delivered', 1, '2026-11-28 05:58:03.335+00', '2026-11-28 05:58:03.601+00', NULL, NULL),
	('01a220bb-6a8c-7ddc-85b6-85900c37febe', '01a220bb-5734-7638-9980-6f517b027804', 'key.rotated', 'key.rotated:01a220bb-6599-72ed-90ae-38f498d016f0', '{"type":"key.rotated","timestamp":"2026-11-28T05:58:03.148Z","data":{"keyId":"01a220bb-6599-72ed-90ae-38f498d016f0","name":"rotating","quotaId":"01a220bb-6594-7295-8bde-e572931bbbed","expiresAt":"2026-12-28T05:58:02.985Z","successorId":"01a220bb-6a28-7419-90d4-5a3a9351e467"}}', 'delivered', 1, '2026-11-28 05:58:03.148+00', '2026-11-28 05:58:03.601+00', NULL, NULL),
	('01a220bb-6bb0-7749-aa39-9d09f5144029', '01a220bb-5734-7638-9980-6f517b027804', 'key.revoked', 'key.revoked:01a220bb-6529-7025-b5ce-6c28d6080e69', '{"type":"key.revoked","timestamp":"2026-11-28T05:58:03.440Z","data":{"keyId":"01a220bb-6529-7025-b5ce-6c28d6080e69","name":"revoked","quotaId":"01a220bb-6518-72ed-ab4d-8494fd80b619","revokedAt":"2026-11-28T05:58:03.399Z"}}', 'delivered', 1, '2026-11-28 05:58:03.44+00', '2026-11-28 05:58:03.601+00', NULL, NULL),
	('01a220bb-6d43-729d-9035-b6026c8b2a1e', '01a220bb-5734-7638-9980-6f517b027804', 'key.revoked', 'key.revoked:01a220bb-6564-7151-9535-e267ccd9a14d', '{"type":"key.revoked","timestamp":"2026-11-28T05:58:03.843Z","data":{"keyId":"01a220bb-6564-7151-9535-e267ccd9a14d","name":"leaked","quotaId":"01a220bb-6561-7798-a9f9-f3a11a79f76a","revokedAt":"2026-11-28T05:58:03.818Z"}}', 'delivered', 1, '2026-11-28 05:58:03.843+00', '2026-11-28 05:58:04.097+00', NULL, NULL),
	('01a220bb-6d43-71c2-a0af-7387eeabdba8', '01a220bb-5914-74ee-8e1e-f8cf8bcc1645', 'key.revoked', 'key.revoked:01a220bb-6564-7151-9535-e267ccd9a14d', '{"type":"key.revoked","timestamp":"2026-11-28T05:58:03.843Z","data":{"keyId":"01a220bb-6564-7151-9535-e267ccd9a14d","name":"leaked","quotaId":"01a220bb-6561-7798-a9f9-f3a11a79f76a","revokedAt":"2026-11-28T05:58:03.818Z"}}', 'pending', 2, '2026-11-28 05:58:03.843+00', '2026-11-28 05:58:16.297+00', 'The response was 500', '2026-11-28 05:59:11.117+00'),
	('01a220bb-c1ae-7b2b-8ad0-afa87148eeff', '01a220bb-5914-74ee-8e1e-f8cf8bcc1645', 'quota.day_limit_80', 'quota.day_limit_80:quota:01a220bb-636e-7379-afc8-7f6e4a7d38fa:20785', '{"type":"quota.day_limit_80","timestamp":"2026-11-28T05:58:25.454Z","data":{"name":"at day limit","plan":"business","used":5,"keyId":"01a220bb-6373-779f-9663-0336e0cc31ff","limit":5,"quotaId":"01a220bb-636e-7379-afc8-7f6e4a7d38fa"}}', 'pending', 2, '2026-11-28 05:58:25.454+00', '2026-11-28 05:58:39.921+00', 'The response was 500', '2026-11-28 05:59:35.797+00'),
	('01a220bb-c1ae-7620-ba49-301915eea43c', '01a220bb-5914-74ee-8e1e-f8cf8bcc1645', 'quota.day_limit_80', 'quota.day_limit_80:quota:01a220bb-6312-731d-9080-e85b5ff43775:20785', '{"type":"quota.day_limit_80","timestamp":"2026-11-28T05:58:25.454Z","data":{"name":"near day limit","plan":"business","used":8,"keyId":"01a220bb-6317-77db-8d9d-1943998ab7ad","limit":10,"quotaId":"01a220bb-6312-731d-9080-e85b5ff43775"}}', 'pending', 2, '2026-11-28 05:58:25.454+00', '2026-11-28 05:58:40.923+00', 'The response was 500', '2026-11-28 05:59:36.058+00'),
	('01a220bb-6bb0-7326-b3bb-ae5dee902ac7', '01a220bb-5914-74ee-8e1e-f8cf8bcc1645', 'key.revoked', 'key.revoked:01a220bb-6529-7025-b5ce-6c28d6080e69', '{"type":"key.revoked","timestamp":"2026-11-28T05:58:03.440Z","data":{"keyId":"01a220bb-6529-7025-b5ce-6c28d6080e69","name":"revoked","quotaId":"01a220bb-6518-72ed-ab4d-8494fd80b619","revokedAt":"2026-11-28T05:58:03.399Z"}}', 'failed', 11, '2026-11-28 05:58:03.44+00', '2026-11-28 05:58:16.297+00', 'The response was 500', NULL),
	('01a220bb-c1ae-748c-a5be-b8419a195caa', '01a220bb-5734-7638-9980-6f517b027804', 'quota.day_limit_80', 'quota.day_limit_80:quota:01a220bb-6312-731d-9080-e85b5ff43775:20785', '{"type":"quota.day_limit_80","timestamp":"2026-11-28T05:58:25.454Z","data":{"name":"near day limit","plan":"business","used":8,"keyId":"01a220bb-6317-77db-8d9d-1943998ab7ad","limit":10,"quotaId":"01a220bb-6312-731d-9080-e85b5ff43775"}}', 'delivered', 1, '2026-11-28 05:58:25.454+00', '2026-11-28 05:58:25.897+00', NULL, NULL),
	('01a220bb-c1ae-74fd-9caf-0c1d09181db9', '01a220bb-5734-7638-9980-6f517b027804', 'quota.banned', 'quota.banned:quota:01a220bb-61ba-76be-bead-db2ad848e979:2026-11-28T17:58:22.438Z', '{"type":"quota.banned","timestamp":"2026-11-28T05:58:25.454Z","data":{"name":"banned","plan":"free","keyId":"01a220bb-61cc-7292-8fa6-b269dabf633d","quotaId":"01a220bb-61ba-76be-bead-db2ad848e979","bannedUntil":"2026-11-28T17:58:22.438Z"}}', 'delivered', 1, '2026-11-28 05:58:25.454+00', '2026-11-28 05:58:25.897+00', NULL, NULL),
	('01a220bb-c1ae-70c6-a596-5edd4bdefef8', '01a220bb-5734-7638-9980-6f517b027804', 'quota.day_limit_80', 'quota.day_limit_80:quota:01a220bb-636e-7379-afc8-7f6e4a7d38fa:20785', '{"type":"quota.day_limit_80","timestamp":"2026-11-28T05:58:25.454Z","data":{"name":"at day limit","plan":"business","used":5,"keyId":"01a220bb-6373-779f-9663-0336e0cc31ff","limit":5,"quotaId":"01a220bb-636e-7379-afc8-7f6e4a7d38fa"}}', 'delivered', 1, '2026-11-28 05:58:25.454+00', '2026-11-28 05:58:25.897+00', NULL, NULL),
	('01a220bb-c1ae-73d6-920c-c74301d1fe28', '01a220bb-5734-7638-9980-6f517b027804', 'quota.day_limit_reached', 'quota.day_limit_reached:quota:01a220bb-636e-7379-afc8-7f6e4a7d38fa:20785', '{"type":"quota.day_limit_reached","timestamp":"2026-11-28T05:58:25.454Z","data":{"name":"at day limit","plan":"business","used":5,"keyId":"01a220bb-6373-779f-9663-0336e0cc31ff","limit":5,"quotaId":"01a220bb-636e-7379-afc8-7f6e4a7d38fa"}}', 'delivered', 1, '2026-11-28 05:58:25.454+00', '2026-11-28 05:58:25.897+00', NULL, NULL),
	('01a220bb-c1ae-7ee9-bb05-ed3e21399859', '01a220bb-5734-7638-9980-6f517b027804', 'key.expiring', 'key.expiring:01a220bb-6444-73e6-bc8f-53a47a30f388:1796277481.463000', '{"type":"key.expiring","timestamp":"2026-11-28T05:58:25.454Z","data":{"name":"expiring","keyId":"01a220bb-6444-73e6-bc8f-53a47a30f388","quotaId":"01a220bb-6422-7420-b989-93065e1e5a0a","expiresAt":"2026-12-03T05:58:01.463Z"}}', 'delivered', 1, '2026-11-28 05:58:25.454+00', '2026-11-28 05:58:55.968+00', NULL, NULL),
	('01a220bb-c1ae-7ee9-bb05-ed3ec15603b4', '01a220bb-5734-7638-9980-6f517b027804', 'operation.deprecated_called', 'operation.deprecated_called:getPet:01a220bb-5cd4-71e9-ad27-2786ffa3386b:20785', '{"type":"operation.deprecated_called","timestamp":"2026-11-28T05:30:00.000Z","data":{"operation":"getPet","removedAt":"2030-12-05T00:00:00.000Z","keyId":"01a220bb-5cd4-71e9-ad27-2786ffa3386b","name":"client","quotaId":"01a220bb-5c87-734a-aea9-1b5a3b23d1c0"}}', 'delivered', 1, '2026-11-28 05:59:01.818+00', '2026-11-28 05:59:01.818+00', NULL, NULL);

INSERT INTO public.webhooks VALUES
	('01a220bb-5914-74ee-8e1e-f8cf8bcc1645', 'http://127.0.0.1:18090/down', '{key.revoked,operation.deprecated_called,quota.day_limit_80}', 'whsec_yPYkiIPLblULvd0t5c0NU6LdXwZns/7IIOaZVXWiT4g=', NULL, NULL, '2026-11-28 05:57:58.676+00'),
	('01a220bb-5734-7638-9980-6f517b027804', 'http://127.0.0.1:18090/ok', '{quota.day_limit_80,quota.day_limit_reached,quota.banned,key.expiring,key.rotated,key.revoked,operation.deprecated_called}', 'whsec_InV5IlEEyrEgsVgKCWtNWX/PzGoKZmpGDIsDDA6yXfo=', 'whsec_0qXbIcHqvSQ2NxJDsoTSi3tRYWoP6N3joqLX2EeYqMU=', '2026-11-29 05:57:59.017+00', '2026-11-28 05:57:58.197+00');

SELECT pg_catalog.setval('public.audit_events_id_seq', 37, true);

SELECT pg_catalog.setval('public.orders_id_seq', 4, true);

SELECT pg_catalog.setval('public.pets_id_seq', 5, true);

ALTER TABLE ONLY public._prisma_migrations
    ADD CONSTRAINT _prisma_migrations_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.api_keys
    ADD CONSTRAINT api_keys_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.audit_events
    ADD CONSTRAINT audit_events_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.orders
    ADD CONSTRAINT orders_pkey PRIMARY KEY (quota_id, id);

ALTER TABLE ONLY public.pets
    ADD CONSTRAINT pets_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.plans
    ADD CONSTRAINT plans_pkey PRIMARY KEY (name);

ALTER TABLE ONLY public.quotas
    ADD CONSTRAINT quotas_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.rate_limit_counters
    ADD CONSTRAINT rate_limit_counters_pkey PRIMARY KEY (bucket_key);

ALTER TABLE ONLY public.stored_responses
    ADD CONSTRAINT stored_responses_pkey PRIMARY KEY (quota_id, key);

ALTER TABLE ONLY public.usage_batches
    ADD CONSTRAINT usage_batches_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.usage
    ADD CONSTRAINT usage_pkey PRIMARY KEY (key_id, period, starts_at, operation, deprecated);

ALTER TABLE ONLY public.webhook_deliveries
    ADD CONSTRAINT webhook_deliveries_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.webhooks
    ADD CONSTRAINT webhooks_pkey PRIMARY KEY (id);

CREATE UNIQUE INDEX api_keys_hash_key ON public.api_keys USING btree (hash);

CREATE UNIQUE INDEX api_keys_predecessor_id_key ON public.api_keys USING btree (predecessor_id);

CREATE INDEX api_keys_quota_id_idx ON public.api_keys USING btree (quota_id);

CREATE UNIQUE INDEX orders_id_key ON public.orders USING btree (id) WHERE (quantity >= 1);

CREATE INDEX orders_pet_id_idx ON public.orders USING btree (pet_id);

CREATE INDEX orders_quota_id_status_id_idx ON public.orders USING btree (quota_id, status, id);

CREATE INDEX pets_status_id_idx ON public.pets USING btree (status, id);

CREATE INDEX quotas_plan_idx ON public.quotas USING btree (plan);

CREATE INDEX rate_limit_counters_banned_until_idx ON public.rate_limit_counters USING btree (banned_until) WHERE (banned_until IS NOT NULL);

CREATE INDEX stored_responses_stored_at_idx ON public.stored_responses USING btree (stored_at);

CREATE INDEX usage_deprecated_idx ON public.usage USING btree (operation, key_id) WHERE (deprecated AND (period = 'day'::public.usage_period));

CREATE INDEX usage_period_starts_at_key_id_operation_deprecated_idx ON public.usage USING btree (period, starts_at DESC, key_id, operation, deprecated);

CREATE INDEX webhook_deliveries_created_at_idx ON public.webhook_deliveries USING btree (created_at);

CREATE INDEX webhook_deliveries_due_idx ON public.webhook_deliveries USING btree (webhook_id, next_attempt_at) WHERE (state = 'pending'::public.webhook_delivery_state);

CREATE UNIQUE INDEX webhook_deliveries_event_key_webhook_id_key ON public.webhook_deliveries USING btree (event_key, webhook_id);

CREATE INDEX webhook_deliveries_webhook_id_id_idx ON public.webhook_deliveries USING btree (webhook_id, id DESC);

CREATE TRIGGER api_keys_notify AFTER DELETE OR UPDATE OR TRUNCATE ON public.api_keys FOR EACH STATEMENT EXECUTE FUNCTION public.notify_key_change();

CREATE TRIGGER audit_events_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON public.audit_events FOR EACH STATEMENT EXECUTE FUNCTION public.reject_audit_change();

ALTER TABLE public.audit_events ENABLE ALWAYS TRIGGER audit_events_append_only;

CREATE TRIGGER plans_notify AFTER DELETE OR UPDATE OR TRUNCATE ON public.plans FOR EACH STATEMENT EXECUTE FUNCTION public.notify_key_change();

CREATE TRIGGER quotas_notify AFTER DELETE OR UPDATE OR TRUNCATE ON public.quotas FOR EACH STATEMENT EXECUTE FUNCTION public.notify_key_change();

ALTER TABLE ONLY public.api_keys
    ADD CONSTRAINT api_keys_predecessor_id_fkey FOREIGN KEY (predecessor_id) REFERENCES public.api_keys(id) ON UPDATE CASCADE ON DELETE SET NULL;

ALTER TABLE ONLY public.api_keys
    ADD CONSTRAINT api_keys_quota_id_fkey FOREIGN KEY (quota_id) REFERENCES public.quotas(id) ON UPDATE CASCADE ON DELETE RESTRICT;

ALTER TABLE ONLY public.orders
    ADD CONSTRAINT orders_pet_id_fkey FOREIGN KEY (pet_id) REFERENCES public.pets(id) ON UPDATE CASCADE ON DELETE RESTRICT;

ALTER TABLE ONLY public.orders
    ADD CONSTRAINT orders_quota_id_fkey FOREIGN KEY (quota_id) REFERENCES public.quotas(id) ON UPDATE CASCADE ON DELETE RESTRICT;

ALTER TABLE ONLY public.quotas
    ADD CONSTRAINT quotas_plan_fkey FOREIGN KEY (plan) REFERENCES public.plans(name) ON UPDATE CASCADE ON DELETE RESTRICT;

ALTER TABLE ONLY public.stored_responses
    ADD CONSTRAINT stored_responses_quota_id_fkey FOREIGN KEY (quota_id) REFERENCES public.quotas(id) ON UPDATE CASCADE ON DELETE CASCADE;

ALTER TABLE ONLY public.webhook_deliveries
    ADD CONSTRAINT webhook_deliveries_webhook_id_fkey FOREIGN KEY (webhook_id) REFERENCES public.webhooks(id) ON UPDATE CASCADE ON DELETE CASCADE;
