(w int, d int, threshold int, OUT low int)
SQL SECURITY INVOKER
BEGIN
    {refused}
    {low};
    COMMIT;
END
